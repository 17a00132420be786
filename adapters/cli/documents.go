package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
	"aion/domain"
	"aion/domain/document"
)

func newDocumentsCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "documents", Short: "list, read, save or delete the documents that are saved on a server"}
	return group(cmd, newDocumentsList(p, g), newDocumentsRead(p, g), newDocumentsSave(p, g), newDocumentsDelete(p, g), newDocumentsHistory(p, g), newDocumentsDiff(p, g))
}

// documentPath is the path of a document in the API.
func documentPath(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return "/documents/" + strings.Join(parts, "/")
}

// document reads a saved document.
func (s *session) document(ctx context.Context, path string) (object, error) {
	answer, err := s.get(ctx, documentPath(path), nil)
	if err != nil {
		return nil, err
	}
	return parseObject(answer)
}

func newDocumentsList(p *Program, g *globals) *cobra.Command {
	var prefix, search string
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "list the saved documents",
		Example: "  aion documents list --prefix team/",
		Args:    arguments(0, 0, "no arguments"),
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "only paths that begin with this")
	cmd.Flags().StringVar(&search, "query", "", "only documents that hold this in name, workflow or text")
	limitFlag(cmd, &limit)
	return asks(p, g, cmd, func(ctx context.Context, s *session, _ []string) error {
		return s.list(ctx, listing{
			path: "/documents", query: queryOf("prefix", prefix, "q", search), rows: "documents", id: "path", limit: limit, none: "no such document is saved",
			columns: []column{text("PATH", "path"), hash("HASH", "content_hash"), text("BYTES", "bytes"), moment("SAVED", "modified_at"), {"DEPLOYED AS", deployedAs}},
		})
	})
}

func deployedAs(_ screen, o object) string {
	var names []string
	for _, use := range o.list("deployed") {
		name := use.text("workflow_type")
		if use.flag("route_active") {
			name += " (routed)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func newDocumentsRead(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "read PATH",
		Short:   "print a saved document, byte for byte",
		Example: "  aion documents read hello.awl",
		Args:    arguments(1, 1, "the path of one document"),
	}
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		if s.shape.output == "table" {
			answer, err := s.Do(ctx, client.Request{Path: documentPath(args[0]), Accept: "text/plain"})
			if err == nil {
				_, err = p.Out.Write(answer.Body)
			}
			return err
		}
		answer, err := s.get(ctx, documentPath(args[0]), nil)
		if err != nil {
			return err
		}
		return s.show(answer, []string{"path"}, nil)
	})
}

type saveFlags struct {
	ifMatch       string
	create, force bool
}

func newDocumentsSave(p *Program, g *globals) *cobra.Command {
	f := &saveFlags{}
	cmd := &cobra.Command{
		Use:   "save PATH FILE",
		Short: "save a file as a document",
		Long: "Saves the text under a path. It overwrites what the document is when the command begins, and nothing that somebody else saves meanwhile.\n" +
			"--if-match names the revision that the text was made from.",
		Example: "  aion documents save hello.awl hello.awl\n  aion documents save hello.awl - --create",
		Args:    arguments(2, 2, "the path of a document and a file; - is standard input"),
	}
	cmd.Flags().StringVar(&f.ifMatch, "if-match", "", "save only over this content hash")
	cmd.Flags().BoolVar(&f.create, "create", false, "save only when there is no document at the path")
	cmd.Flags().BoolVar(&f.force, "force", false, "save over whatever is there")
	return asks(p, g, cmd, f.save)
}

func (f *saveFlags) save(ctx context.Context, s *session, args []string) error {
	src, err := readSource(s.p, args[1])
	if err != nil {
		return err
	}
	header, err := f.precondition(ctx, s, args[0])
	if err != nil {
		return err
	}
	answer, err := s.Do(ctx, client.Request{
		Method: http.MethodPut, Path: documentPath(args[0]), Body: append([]byte{}, src.text...), Media: "text/plain; charset=utf-8", Header: header,
	})
	if err != nil {
		f.conflict(s, header, err)
		return err
	}
	return s.show(answer.Body, []string{"content_hash"}, func(o object) error {
		word := "saved"
		switch {
		case o.flag("created"):
			word = "created"
		case !o.flag("changed"):
			word = "unchanged"
		}
		return s.p.say("%s\t%s\t%s", word, o.text("path"), o.text("content_hash"))
	})
}

// conflict names both hashes when somebody else has saved.
func (f *saveFlags) conflict(s *session, header map[string]string, err error) {
	var answered *client.RefusedError
	if !errors.As(err, &answered) || answered.Refusal.Type != "RevisionMismatch" {
		return
	}
	fmt.Fprintf(s.p.Err, "expected  %s\nthere is  %v\n", strings.Trim(cmp.Or(header["If-Match"], "no document"), `"`), cmp.Or[any](answered.Refusal.Details["current_content_hash"], "no document"))
}

// precondition says what the text may overwrite: without a flag what is there now.
func (f *saveFlags) precondition(ctx context.Context, s *session, path string) (map[string]string, error) {
	given := 0
	for _, set := range []bool{f.ifMatch != "", f.create, f.force} {
		if set {
			given++
		}
	}
	if given > 1 {
		return nil, &usage{message: "--if-match, --create and --force exclude each other"}
	}
	if f.ifMatch != "" {
		if len(f.ifMatch) != hashLength {
			return nil, &usage{message: fmt.Sprintf("--if-match takes a content hash of %d characters; got %q", hashLength, cut(f.ifMatch, hashLength))}
		}
		return map[string]string{"If-Match": `"` + f.ifMatch + `"`}, nil
	}
	isNew := map[string]string{"If-None-Match": "*"}
	if f.create {
		return isNew, nil
	}
	current, err := s.document(ctx, path)
	switch {
	case domain.TypeOf(err) == "DocumentNotFound":
		return isNew, nil
	case err != nil:
		return nil, err
	case f.force:
		return map[string]string{"If-Match": "*"}, nil
	}
	return map[string]string{"If-Match": `"` + current.text("content_hash") + `"`}, nil
}

func newDocumentsDelete(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "delete PATH",
		Short:   "delete a document; its revisions stay readable",
		Example: "  aion documents delete hello.awl --yes",
		Args:    arguments(1, 1, "the path of one document"),
	}
	cmd.Flags().Bool("yes", false, "do not ask")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		current, err := s.document(ctx, args[0])
		if err != nil {
			return err
		}
		if err := s.confirm("delete " + args[0]); err != nil {
			return err
		}
		match := map[string]string{"If-Match": `"` + current.text("content_hash") + `"`}
		if _, err := s.Do(ctx, client.Request{Method: http.MethodDelete, Path: documentPath(args[0]), Header: match}); err != nil {
			return err
		}
		return p.say("deleted %s", args[0])
	})
}

func newDocumentsHistory(p *Program, g *globals) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "history PATH",
		Short:   "list the revisions of a document, newest first",
		Example: "  aion documents history hello.awl",
		Args:    arguments(1, 1, "the path of one document"),
	}
	limitFlag(cmd, &limit)
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		return s.list(ctx, listing{
			path: "/revisions", query: queryOf("path", args[0]), rows: "revisions", id: "content_hash", limit: limit, none: "no revision is kept",
			columns: []column{hash("HASH", "content_hash"), text("BYTES", "bytes"), moment("SAVED", "saved_at"), text("BY", "saved_by"), {"DEPLOYED AS", deployedAs}},
		})
	})
}

func newDocumentsDiff(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "diff PATH FILE",
		Short:   "show how a file differs from the saved document; exit 1 when it does",
		Example: "  aion documents diff hello.awl hello.awl",
		Args:    arguments(2, 2, "the path of a document and a file; - is standard input"),
	}
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		src, err := readSource(p, args[1])
		if err != nil {
			return err
		}
		saved, err := s.Do(ctx, client.Request{Path: documentPath(args[0]), Accept: "text/plain"})
		if err != nil {
			return err
		}
		if len(saved.Body) > document.MaxBytes {
			return unreadable(fmt.Errorf("the document has more than %d bytes", document.MaxBytes))
		}
		text := unified(args[0], src.name, saved.Body, src.text)
		if text == "" {
			return nil
		}
		if _, err := fmt.Fprint(p.Out, text); err != nil {
			return err
		}
		return status(exitNo)
	})
}
