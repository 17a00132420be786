package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// paged makes a command show its result through the pager of its user where standard output is a terminal (server 3.1). Nothing that
// goes on while it is read is paged.
func paged(p *Program, g *globals, cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		follows := cmd.Flags().Lookup("follow")
		out, ok := p.Out.(*output)
		if !ok || p.Pager == nil || !p.OutTerminal || g.noPager || follows != nil && follows.Value.String() == "true" {
			return run(cmd, args)
		}
		pages := &pages{errs: p.Err, plain: out.w, start: func() (io.Writer, func(), error) { return p.Pager(cmd.Context()) }}
		out.through(pages)
		defer func() {
			out.through(pages.plain)
			pages.end()
		}()
		return run(cmd, args)
	}
	return cmd
}

// pages is standard output through a pager, which begins with the first byte: a refusal is not paged.
type pages struct {
	start func() (w io.Writer, wait func(), err error)
	plain io.Writer
	errs  io.Writer

	w    io.Writer // nil: nothing is written yet
	wait func()
}

func (s *pages) Write(b []byte) (int, error) {
	if s.w == nil {
		w, wait, err := s.start()
		if err != nil {
			fmt.Fprintf(s.errs, "warning: the pager does not start: %s\n", printable(Fail(err, "").Detail))
			w, wait = s.plain, func() {}
		}
		s.w, s.wait = w, wait
	}
	return s.w.Write(b)
}

// end waits until the user has read what there is.
func (s *pages) end() {
	if s.wait != nil {
		s.wait()
	}
}
