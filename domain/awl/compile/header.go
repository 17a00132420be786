package compile

import (
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// header compiles the inputs, signals and outcomes, and the two schemas made of them.
func (c *compiler) header(p *plan.Plan) {
	h := c.doc.Header
	var fields []schema.Field
	for _, in := range h.Inputs {
		t := c.typeOf(in.Type)
		fields = append(fields, schema.Field{Name: in.Name.Name, Doc: text(in.Doc), Type: t})
		p.Inputs = append(p.Inputs, plan.Port{
			Name: in.Name.Name, Schema: c.schemaOf(t, in.Name.Span),
			Doc: text(in.Doc), Optional: t.Kind == schema.Optional,
		})
	}
	for _, s := range h.Signals {
		p.Signals = append(p.Signals, plan.Port{
			Name: s.Name.Name, Schema: c.schemaOf(c.typeOf(s.Type), s.Name.Span),
			Doc: text(s.Doc),
		})
	}
	var arms []schema.Arm
	for _, o := range h.Outcomes {
		t := c.typeOf(o.Type)
		status := plan.Success
		if o.Failure {
			status = plan.Failure
		}
		arms = append(arms, schema.Arm{Name: o.Name.Name, Type: t})
		p.Outcomes = append(p.Outcomes, plan.Outcome{
			Name: o.Name.Name, Schema: c.schemaOf(t, o.Name.Span),
			Status: status, Doc: text(o.Doc),
		})
	}
	if c.over != nil {
		return
	}
	p.InputSchema = schema.Object(fields, schema.ObjectOptions{Draft: true, Title: p.WorkflowType, Description: p.Narration})
	p.OutcomeSchema = schema.Outcomes(arms)
	c.spend(len(p.InputSchema)+len(p.OutcomeSchema), h.Name.Span)
}

// children lists the declared children, with how the document uses them.
func (c *compiler) children(p *plan.Plan) {
	for _, ch := range c.doc.Children {
		name := ch.Name.Name
		p.Children = append(p.Children, plan.Child{
			Name: name, InputSchema: c.input(ch.Params, ch.Name),
			OutputSchema: c.schemaOf(c.typeOf(ch.Result), ch.Name.Span),
			Called:       c.called[name], Spawned: c.spawned[name],
		})
	}
}

// input is the schema of the one object that arguments form.
func (c *compiler) input(params []*syntax.Param, of syntax.Ident) []byte {
	if c.over != nil {
		return nil
	}
	var fields []schema.Field
	for _, p := range params {
		fields = append(fields, schema.Field{Name: p.Name.Name, Type: c.typeOf(p.Type)})
	}
	b := schema.Object(fields, schema.ObjectOptions{})
	c.spend(len(b), of.Span)
	return b
}
