package bridge

import (
	"bytes"
	"context"
	"sync"

	"aion/adapters/web/jsontext"
)

// revisionOfBatches is the only revision that has batches.
const revisionOfBatches = "2025-03-26"

// batch handles an array of messages. Their answers come as one array, when the last of them is there.
func (c *conn) batch(ctx context.Context, text []byte) {
	elements, _ := jsontext.Elements(text)
	c.mu.Lock()
	revision := c.revision
	c.mu.Unlock()
	if revision != revisionOfBatches || len(elements) == 0 {
		f := &fault{codeRequest, "a batch is for revision " + revisionOfBatches + ", and not empty; send one message per line"}
		c.out.send(f.answer(nil).encode(nil))
		return
	}
	g := &gathered{left: len(elements), send: c.send}
	for _, element := range elements {
		m, f := readMessage(element)
		if f == nil && m.method == "initialize" {
			f = &fault{codeRequest, "initialize cannot be part of a batch"}
		}
		c.dispatch(ctx, m, f, g.add)
	}
}

// gathered collects the answers of one batch.
type gathered struct {
	send reply

	mu      sync.Mutex
	left    int
	answers [][]byte
}

func (g *gathered) add(message []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left--
	if message != nil {
		g.answers = append(g.answers, message)
	}
	if g.left == 0 && len(g.answers) > 0 {
		g.send(append(append([]byte{'['}, bytes.Join(g.answers, []byte{','})...), ']'))
	}
}
