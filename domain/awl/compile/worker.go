package compile

import (
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

func (c *compiler) workers(p *plan.Plan) {
	for _, w := range c.doc.Workers {
		pw := plan.Worker{Name: w.Name.Name, Doc: text(w.Doc), Actions: []plan.Action{}}
		for _, a := range w.Actions {
			pw.Actions = append(pw.Actions, c.action(a))
		}
		p.Workers = append(p.Workers, pw)
	}
}

func (c *compiler) action(a *syntax.Action) plan.Action {
	pa := plan.Action{
		Name: a.Name.Name, Doc: text(a.Doc), Params: []action.Param{},
		InputSchema: c.input(a.Params, a.Name), OutputSchema: c.schemaOf(c.typeOf(a.Result), a.Name.Span),
		Body: c.body(a.Body),
	}
	for _, p := range a.Params {
		pa.Params = append(pa.Params, c.param(p))
	}
	pa.Node, pa.TimeoutMS = c.settings(a.Settings, "", 0)
	if a.Settings != nil && a.Settings.Retry != nil {
		pa.Retry = c.retry(a.Settings.Retry)
	}
	return pa
}

// settings are the node and the timeout of a declaration, or of a call over those of its declaration.
func (c *compiler) settings(s *syntax.Settings, node string, timeoutMS int64) (string, int64) {
	if s == nil {
		return node, timeoutMS
	}
	if s.Node != nil {
		node = s.Node.Name.Name
	}
	if s.Timeout != nil {
		timeoutMS = c.duration(s.Timeout.Value)
	}
	return node, timeoutMS
}

func (c *compiler) retry(r *syntax.RetrySetting) *plan.Retry {
	p := &plan.Retry{Count: int(r.Count)}
	if r.Every != nil {
		p.EveryMS = c.duration(r.Every)
		return p
	}
	p.BackoffMS = []int64{c.duration(r.Min), c.duration(r.Max)}
	return p
}

// param says how a parameter's value becomes words.
func (c *compiler) param(p *syntax.Param) action.Param {
	t := c.typeOf(p.Type)
	out := action.Param{Name: p.Name.Name, Kind: "other"}
	if t.Kind == schema.Optional {
		out.Optional, t = true, t.Elem
	}
	switch {
	case scalar(t):
		out.Kind = "scalar"
	case t.Kind == schema.List && scalar(t.Elem):
		out.Kind = "list"
	}
	return out
}

func scalar(t *schema.Type) bool {
	switch t.Kind {
	case schema.Bool, schema.Int, schema.Float, schema.String, schema.Dir, schema.Enum:
		return true
	case schema.Unknown, schema.Nil, schema.List, schema.Optional, schema.Record:
	}
	return false
}

func (c *compiler) body(b *syntax.Body) *action.Body {
	if b == nil {
		return nil
	}
	capture := action.Capture(b.Capture)
	if b.Run != nil {
		if capture == "" {
			capture = action.CaptureOutcome
		}
		c.spend(len(b.Run.Value), b.Keyword)
		return &action.Body{Run: &action.RunBody{Command: b.Run.Value, Capture: capture}}
	}
	if capture == "" {
		capture = action.CaptureText
	}
	body := &action.CommandBody{Capture: capture}
	if b.Command != nil {
		if cmd := c.commands[b.Command.Name]; cmd != nil {
			body.Command = c.recipe(cmd)
		}
	}
	return &action.Body{Command: body}
}

// recipe splits a command once; nothing after this holds a string that could be split again.
func (c *compiler) recipe(cmd *syntax.Command) action.Recipe {
	r := action.Recipe{Name: cmd.Name.Name, Lines: [][]action.Word{}}
	for _, p := range cmd.Params {
		out := action.Parameter{Name: p.Name.Name, Kind: p.Kind}
		if p.Default != nil {
			value := p.Default.Value
			out.Default = &value
		}
		r.Params = append(r.Params, out)
	}
	for _, d := range cmd.Directives {
		if d.Value == nil {
			continue
		}
		c.spend(len(d.Value.Value), d.Span)
		if d.Export {
			r.Env = append(r.Env, action.EnvVar{Name: d.Name.Name, Value: d.Value.Value})
			continue
		}
		pieces, _ := action.ParsePieces(d.Value.Value)
		r.Cwd = action.PlainPieces(pieces)
	}
	for _, l := range cmd.Lines {
		const perWord = 24 // of JSON around each word
		line, _ := action.ParseLine(l.Text)
		c.spend(len(l.Text)+perWord*len(line.Words), l.Span)
		r.Lines = append(r.Lines, line.Plain())
	}
	return r
}
