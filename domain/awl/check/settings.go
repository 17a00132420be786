package check

import (
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// maxRetries bounds how often an action is tried again.
const maxRetries = 100

// declaredSettings reads the settings of an action (AWL6011, AWL6013).
func (c *checker) declaredSettings(op *operation) {
	s := op.action.Settings
	if s == nil {
		return
	}
	c.node(s.Node, op)
	params := &scope{vars: map[string]*schema.Type{}}
	for _, f := range op.fields {
		params.vars[f.Name] = f.Type
	}
	if s.Timeout != nil {
		c.duration(s.Timeout.Value, params)
	}
	if s.Retry != nil {
		c.retry(s.Retry, params)
	}
}

// node reads a `node` setting, which says where a worker runs and means nothing to the server.
func (c *checker) node(s *syntax.NodeSetting, op *operation) {
	if s == nil {
		return
	}
	c.snake(s.Name)
	if op.hasBody() {
		c.found.add("AWL6011", s.Keyword)
	}
}

func (c *checker) retry(s *syntax.RetrySetting, params *scope) {
	if s.Count < 1 || s.Count > maxRetries {
		c.found.add("AWL6013", s.CountSpan, "what", "`retry` takes 1 to 100 retries")
	}
	c.duration(s.Every, params)
	from, fromOK := c.duration(s.Min, params)
	to, toOK := c.duration(s.Max, params)
	if fromOK && toOK && from > to {
		c.found.add("AWL6013", s.Min.Span, "what", "the backoff falls: its first duration is longer than its second")
	}
}

// callSettings reads the settings of one call, which pins `node` and `timeout` of an action (AWL6012).
func (p *place) callSettings(s *syntax.Settings, op *operation) {
	if s == nil {
		return
	}
	if op.kind != opAction {
		hint := "delete it: a child has no settings; its time limit is the `timeout` under `workflow` in the child's own document"
		if op.kind == opSubflow {
			hint = "delete it: a subflow has no settings; set `timeout` on the actions that it calls"
		}
		p.c.found.add("AWL6012", s.First, "what", "a setting of "+article(op.kind.String()), "hint", hint)
		return
	}
	if s.Retry != nil {
		p.c.found.add("AWL6012", s.Retry.Keyword, "what", "`retry`")
	}
	p.c.node(s.Node, op)
	if s.Timeout != nil {
		p.c.duration(s.Timeout.Value, p.scope)
	}
}
