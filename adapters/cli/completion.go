package cli

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
)

// completionPatience is how long a shell is kept waiting for what a server knows (server 3.1).
const completionPatience = 300 * time.Millisecond

// completed is one list of a server whose values complete an argument.
type completed struct {
	path  string
	rows  string
	value string
	about []string // members that describe a value
}

// completes makes a command complete its arguments with what its server knows, or with nothing when that takes too long. What an
// argument is, its usage says.
func (r *remote) completes(p *Program, g *globals) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
		defer cancel()
		word := argumentOf(cmd, len(args))
		if word == "FILE" {
			return nil, cobra.ShellCompDirectiveDefault
		}
		around, err := p.around(g.open())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s, err := r.session(cmd, p, g, around)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer s.Close()
		list, ok := s.completed(cmd, word, args)
		if !ok {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.values(ctx, list, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// argumentOf is the word of a usage at a place, without its brackets; the last one stands for all that follow if it may be repeated.
func argumentOf(cmd *cobra.Command, at int) string {
	words := strings.Fields(cmd.Use)[1:]
	if len(words) > 0 && at >= len(words) && strings.HasSuffix(words[len(words)-1], "…") {
		at = len(words) - 1
	}
	if at >= len(words) {
		return ""
	}
	return strings.Trim(words[at], "[]…")
}

// completed is the list that completes an argument.
func (s *session) completed(cmd *cobra.Command, word string, args []string) (completed, bool) {
	switch above := cmd.Parent().Name(); {
	case word == "ID" && above == "tasks":
		return completed{"/tasks", "tasks", "task_id", []string{"status"}}, true
	case word == "ID":
		return completed{"/namespaces/" + url.PathEscape(s.ns) + "/runs", "runs", "workflow_id", []string{"workflow_type", "status"}}, true
	case word == "TYPE":
		return completed{"/workflow-types", "workflow_types", "workflow_type", []string{"document_path"}}, true
	case word == "HASH" && len(args) > 0:
		return completed{"/versions?workflow_type=" + url.QueryEscape(args[0]), "versions", "content_hash", []string{"deployed_at"}}, true
	case word == "PATH":
		return completed{"/documents", "documents", "path", nil}, true
	case word == "NAME" && above == "namespaces":
		return completed{"/namespaces", "namespaces", "name", nil}, true
	}
	return completed{}, false
}

// values are those of the first page that begin as wanted; none when they do not come in time.
func (s *session) values(ctx context.Context, c completed, begun string) []cobra.Completion {
	path, query, _ := strings.Cut(c.path, "?")
	wanted, err := url.ParseQuery(query)
	if err != nil {
		return nil
	}
	wanted.Set("limit", "100")
	answer, err := s.Do(ctx, client.Request{Path: path, Query: wanted})
	if err != nil {
		return nil
	}
	o, err := parseObject(answer.Body)
	if err != nil {
		return nil
	}
	var found []cobra.Completion
	for _, row := range o.list(c.rows) {
		value := row.text(c.value)
		if value == "" || !strings.HasPrefix(value, begun) || strings.ContainsFunc(value, control) {
			continue
		}
		var about []string
		for _, name := range c.about {
			about = append(about, printable(row.text(name)))
		}
		found = append(found, cobra.CompletionWithDesc(value, strings.Join(about, " ")))
	}
	return found
}
