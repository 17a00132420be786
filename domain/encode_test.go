package domain_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"aion/domain"
)

func TestTextIsWrittenInItsShortestForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           `""`,
		"a \"b\" \\ /":               `"a \"b\" \\ /"`,
		"\n\r\t\b\f\x00\x1f\x7f":     `"\n\r\t\u0008\u000c\u0000\u001f` + "\x7f\"",
		"<é&\u2028\U0001F600\uFFFD>": "\"<é&\u2028\U0001F600\uFFFD>\"",
		"a\xffb\xe2\x80":             "\"a\uFFFDb\uFFFD\uFFFD\"",
	} {
		if got := string(domain.AppendText([]byte("x"), text)); got != "x"+want {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
	}
}

func TestTextComesBackButForWhatIsNoUTF8(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		var back string
		if err := json.Unmarshal(domain.AppendText(nil, s), &back); err != nil || back != string([]rune(s)) {
			t.Fatalf("%q comes back as %q: %v", s, back, err)
		}
	})
}
