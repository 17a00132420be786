package check

import (
	"aion/domain/action"
	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// checkWorkers reads the actions' settings and bodies, and what a worker document must and must not have.
func (c *checker) checkWorkers() {
	for _, op := range c.operations {
		if op.kind == opAction {
			c.declaredSettings(op)
			c.body(op)
		}
	}
	if c.isWorker {
		c.checkWorkerDocument()
	}
}

// checkWorkerDocument judges a document that is a worker contract (AWL6016, AWL6017, AWL6019).
func (c *checker) checkWorkerDocument() {
	for _, op := range c.operations {
		if op.kind == opAction && op.action.Body == nil {
			c.found.add("AWL6016", op.name.Span, "name", op.name.Name)
		}
	}
	stray := func(kind string, id syntax.Ident) { c.found.add("AWL6017", id.Span, "kind", kind) }
	for _, w := range c.doc.Workers[1:] {
		stray("worker", w.Name)
	}
	for _, d := range c.doc.Children {
		stray("child", d.Name)
	}
	for _, d := range c.doc.Subflows {
		stray("subflow", d.Name)
	}
	for _, s := range c.doc.Steps {
		stray("step", s.Name)
	}
	c.found.add("AWL6019", c.doc.Workers[0].Name.Span)
}

// body reads what the server executes for an action.
func (c *checker) body(op *operation) {
	b := op.action.Body
	if b == nil {
		return
	}
	capture := b.Capture
	var used map[string]bool
	var whole bool
	switch {
	case b.Run != nil:
		if capture == "" {
			capture = string(action.CaptureOutcome)
		}
		used, whole = c.runBody(op, b.Run)
	case b.Command != nil:
		if capture == "" {
			capture = string(action.CaptureText)
		}
		used, whole = c.commandBody(op, *b.Command)
	default:
		return
	}
	if !c.captured(op, action.Capture(capture)) || !whole {
		return
	}
	for _, p := range op.params {
		if !used[p.Name.Name] && p.Name.Name != "" {
			c.found.add("AWL6015", p.Name.Span, "name", p.Name.Name)
		}
	}
}

// runBody reads the text of `run`. It gives the parameters that it uses, and whether it was understood without an error.
func (c *checker) runBody(op *operation, text *syntax.StringLit) (used map[string]bool, whole bool) {
	params := make(map[string]holeParam, len(op.fields))
	for _, f := range op.fields {
		params[f.Name] = holeOf(f.Type)
	}
	t := &commandText{
		c: c, text: text.Value, params: params, names: fieldNames(op.fields), used: map[string]bool{},
		whole: text.Span,
		at: func(from, to int) diag.Span {
			return diag.Span{Start: offsetPos(text, from), End: offsetPos(text, to)}
		},
	}
	t.line()
	return t.used, !t.failed
}

// offsetPos is the place of a byte of a string's value.
func offsetPos(s *syntax.StringLit, i int) diag.Pos {
	if i < 0 || i >= len(s.Offsets) {
		return s.Span.Start
	}
	return s.Offsets[i]
}

// captured judges the result type by what the body gives (AWL6008).
func (c *checker) captured(op *operation, capture action.Capture) bool {
	t := op.result
	if isUnknown(t) {
		return true
	}
	var given string
	var fits bool
	switch capture {
	case action.CaptureOutcome:
		given, fits = "a record of `exit_code`, `stdout` and `stderr`", t.Kind == schema.Nil || c.isOutcomeRecord(t)
	case action.CaptureText:
		given, fits = "`String`", t.Kind == schema.Nil || t.Kind == schema.String
	case action.CaptureLines:
		given, fits = "`[String]`", c.same.as(t, listOf(c.builtin.text))
	case action.CaptureJSON:
		given, fits = "a value", t.Kind != schema.Nil && !isOptional(t)
	default:
		return true
	}
	if !fits {
		c.found.add("AWL6008", op.resultRef.Span, "capture", string(capture), "given", given, "declared", show(t))
	}
	return fits
}

// isOutcomeRecord says whether a type is exactly what `capture outcome` gives.
func (c *checker) isOutcomeRecord(t *schema.Type) bool {
	return c.same.as(t, &schema.Type{Kind: schema.Record, Fields: []schema.Field{
		{Name: "exit_code", Type: c.builtin.integer},
		{Name: "stdout", Type: c.builtin.text},
		{Name: "stderr", Type: c.builtin.text},
	}})
}
