package syntax

import (
	"fmt"
	"strings"
)

func (p *printer) worker(w *Worker) {
	p.line(0, "worker "+w.Name.Name+trailing(&w.Trivia))
	p.open()
	for _, a := range w.Actions {
		p.lead(1, &a.Trivia, a.Doc)
		p.list(1, &list{
			before: "action " + a.Name.Name, items: paramTexts(a.Params), after: " -> " + typeText(a.Result),
			comment: trailing(&a.Trivia),
		})
		p.open()
		p.settings(2, a.Settings)
		if a.Body != nil {
			p.lead(2, &a.Body.Trivia, nil)
			p.line(2, bodyText(a.Body)+trailing(&a.Body.Trivia))
		}
		p.comments(2, a.Trailing)
		p.opened = false
	}
	p.comments(1, w.Trailing)
}

// settings writes the config line of an action or a call.
func (p *printer) settings(depth int, s *Settings) {
	if s == nil {
		return
	}
	var parts []string
	if s.Node != nil {
		parts = append(parts, "node "+s.Node.Name.Name)
	}
	if s.Timeout != nil {
		parts = append(parts, "timeout "+durationText(s.Timeout.Value))
	}
	if r := s.Retry; r != nil && r.Every != nil {
		parts = append(parts, fmt.Sprintf("retry %d every %s", r.Count, durationText(r.Every)))
	} else if r != nil {
		parts = append(parts, fmt.Sprintf("retry %d backoff %s..%s", r.Count, durationText(r.Min), durationText(r.Max)))
	}
	p.lead(depth, &s.Trivia, nil)
	p.line(depth, strings.Join(parts, ", ")+trailing(&s.Trivia))
}

// bodyText is a body; the default capture is not written.
func bodyText(b *Body) string {
	if b.Run != nil {
		return "run " + literal(b.Run) + captureText(b.Capture, "outcome")
	}
	name := ""
	if b.Command != nil {
		name = b.Command.Name
	}
	return "runs command " + name + captureText(b.Capture, "text")
}

func captureText(capture, byDefault string) string {
	if capture == "" || capture == byDefault {
		return ""
	}
	return " capture " + capture
}

func (p *printer) command(c *Command) {
	var t text
	t.write("command ", c.Name.Name)
	for _, x := range c.Params {
		t.write(" ")
		switch x.Kind {
		case "list":
			t.write("*")
		case "list1":
			t.write("+")
		}
		t.write(x.Name.Name)
		if x.Default != nil {
			t.write("=", literal(x.Default))
		}
	}
	p.line(0, t.String()+":"+trailing(&c.Trivia))
	p.open()
	for _, export := range []bool{false, true} {
		for _, d := range c.Directives {
			if d.Export != export {
				continue
			}
			p.lead(1, &d.Trivia, nil)
			if export {
				p.line(1, "export "+d.Name.Name+" = "+literal(d.Value)+trailing(&d.Trivia))
			} else {
				p.line(1, "cwd "+literal(d.Value)+trailing(&d.Trivia))
			}
		}
	}
	for _, l := range c.Lines {
		p.lead(1, &l.Trivia, nil)
		p.line(1, l.Text)
	}
	p.comments(1, c.Trailing)
}
