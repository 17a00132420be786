package document_test

import (
	"errors"
	"strings"
	"testing"

	"aion/domain"
	"aion/domain/document"
)

// mcp 59, 60, 64
func TestRefusalsSayWhatToDoNext(t *testing.T) {
	t.Parallel()
	findings := make([]document.Finding, 7)
	for i := range findings {
		findings[i] = document.Finding{Line: i + 1, Column: 3, Message: "wrong"}
	}
	cases := []struct {
		err  error
		code domain.Code
		typ  string
		want []string
	}{
		{document.NotFound("a/b.awl"), domain.CodeNotFound, "DocumentNotFound", []string{"a/b.awl", "list_documents"}},
		{
			document.RevisionMismatch("b.awl", "ab"), domain.CodeInvalidInput, "RevisionMismatch",
			[]string{"b.awl", "does not match the saved document", "Re-read", "read_document"},
		},
		{
			document.RevisionMismatch("b.awl", ""), domain.CodeInvalidInput, "RevisionMismatch",
			[]string{"b.awl", "does not match the saved document", "there is none", "Re-read list_documents"},
		},
		{document.TooLarge(1048577), domain.CodeInvalidInput, "DocumentTooLarge", []string{"1048577", "1048576"}},
		{
			document.CheckRefused("b.awl", findings), domain.CodeInvalidInput, "CheckRefused",
			[]string{"b.awl", "1:3 wrong", "5:3 wrong", "2 more", "check_document", "aion awl check"},
		},
		{
			document.CompileRefused("b.awl", "no reason."), domain.CodeInvalidInput, "CompileRefused",
			[]string{"b.awl", "no reason.", "check_document"},
		},
	}
	for _, c := range cases {
		var e *domain.Error
		if !errors.As(c.err, &e) || e.Code != c.code || e.Type != c.typ {
			t.Errorf("%v", c.err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(e.Message, want) {
				t.Errorf("%s: no %q in %q", c.typ, want, e.Message)
			}
		}
		if strings.Contains(e.Message, "6:3") {
			t.Error(e.Message)
		}
	}
}
