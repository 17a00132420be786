package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"go.yaml.in/yaml/v3"

	"aion/adapters/cli/client"
	"aion/domain"
)

func unreadable(err error) error {
	return &domain.Error{Code: domain.CodeUnavailable, Type: "NoAionServer", Message: "the server's answer cannot be read: " + err.Error(), Err: err}
}

// say prints a line of which parts are the server's.
func (p *Program) say(format string, args ...any) error {
	_, err := fmt.Fprintln(p.Out, printable(fmt.Sprintf(format, args...)))
	return err
}

// show prints one answer: as it is, or as a person reads it. ids are what -o id prints of it.
func (s *session) show(answer []byte, ids []string, human func(o object) error) error {
	switch s.shape.output {
	case "json", "jsonl":
		return printRaw(s.p.Out, answer)
	case "yaml":
		return printYAML(s.p.Out, answer)
	case "id":
		for _, id := range idsOf(answer, ids) {
			if _, err := fmt.Fprintln(s.p.Out, printable(id)); err != nil {
				return err
			}
		}
		return nil
	}
	o, err := parseObject(answer)
	if err != nil {
		return err
	}
	return human(o)
}

func idsOf(answer []byte, names []string) []string {
	o, err := parseObject(answer)
	if err != nil {
		return nil
	}
	var ids []string
	for _, name := range names {
		ids = append(ids, o.text(name))
	}
	return ids
}

// printRaw prints one JSON value on a line of its own.
func printRaw(w io.Writer, value []byte) error {
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return unreadable(err)
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// printYAML prints one JSON value as YAML. Numbers keep their text.
func printYAML(w io.Writer, value []byte) error {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	node, err := yamlNode(dec)
	if err != nil {
		return unreadable(err)
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	return errors.Join(enc.Encode(node), enc.Close())
}

func yamlNode(dec *json.Decoder) (*yaml.Node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		if v == '{' {
			node.Kind = yaml.MappingNode
		}
		for dec.More() { // of an object name and value in turn
			inner, err := yamlNode(dec)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, inner)
		}
		if len(node.Content) == 0 {
			node.Style = yaml.FlowStyle
		}
		_, err = dec.Token()
		return node, err
	case string:
		node := &yaml.Node{}
		node.SetString(v)
		return node, nil
	case json.Number:
		tag := "!!float"
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			tag = "!!int"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

// listing is one list of the API and how it is shown.
type listing struct {
	path    string
	query   url.Values
	rows    string // the member that holds them
	id      string // what -o id prints of a row
	columns []column
	none    string // what is said when there is none
	limit   int    // 0: all
}

const maxPage = 500

// list walks the pages of a list and prints the rows.
func (s *session) list(ctx context.Context, l listing) error {
	if l.limit < 0 {
		return &usage{message: fmt.Sprintf("--limit must not be negative; got %d", l.limit), hint: "0 lists all"}
	}
	t := newTable(s.p.screen(), l.columns)
	whole := &gathered{member: l.rows}
	left, seen := l.limit, 0
	for cursor := ""; ; {
		page, err := s.page(ctx, l, cursor, left)
		if err != nil {
			return err
		}
		for _, row := range page.rows {
			if err := s.row(t, l, row); err != nil {
				return err
			}
		}
		seen += len(page.rows)
		if s.shape.output == "json" || s.shape.output == "yaml" {
			whole.add(page)
		}
		cursor = page.next
		if left -= len(page.rows); cursor == "" || l.limit > 0 && left <= 0 {
			break
		}
	}
	switch s.shape.output {
	case "json":
		return printRaw(s.p.Out, whole.text())
	case "yaml":
		return printYAML(s.p.Out, whole.text())
	}
	if seen == 0 && !s.g.quiet {
		fmt.Fprintln(s.p.Err, l.none)
	}
	return t.end()
}

// row prints one row where rows go out one by one.
func (s *session) row(t *table, l listing, row json.RawMessage) error {
	switch s.shape.output {
	case "jsonl":
		return printRaw(s.p.Out, row)
	case "json", "yaml":
		return nil
	}
	o, err := parseObject(row)
	if err != nil {
		return err
	}
	if s.shape.output == "id" {
		_, err = fmt.Fprintln(s.p.Out, printable(o.text(l.id)))
		return err
	}
	return t.add(o)
}

// page is one page of a list, taken apart: its members in their order, and the rows.
type page struct {
	names  []string
	values map[string]json.RawMessage
	rows   []json.RawMessage
	next   string
}

func (s *session) page(ctx context.Context, l listing, cursor string, left int) (page, error) {
	query := url.Values{}
	for name, values := range l.query {
		query[name] = values
	}
	size := maxPage
	if l.limit > 0 {
		size = min(size, left)
	}
	query.Set("limit", strconv.Itoa(size))
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	answer, err := s.Do(ctx, client.Request{Path: l.path, Query: query})
	if err != nil {
		return page{}, err
	}
	p, err := parsePage(answer.Body, l.rows)
	if err != nil {
		return page{}, unreadable(err)
	}
	if p.next != "" && p.next == cursor {
		return page{}, unreadable(errors.New("its cursor does not advance"))
	}
	return p, nil
}

func parsePage(text []byte, rows string) (page, error) {
	p := page{values: map[string]json.RawMessage{}}
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return p, errors.Join(errors.New("it is no object"), err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return p, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return p, err
		}
		key, _ := name.(string)
		p.names = append(p.names, key)
		p.values[key] = value
	}
	if err := json.Unmarshal(p.values[rows], &p.rows); err != nil {
		return p, fmt.Errorf("its member %s is no list", rows)
	}
	var next *string
	if raw, ok := p.values["next_cursor"]; ok {
		if err := json.Unmarshal(raw, &next); err != nil {
			return p, errors.New("its cursor is no text")
		}
	}
	if next != nil {
		p.next = *next
	}
	return p, nil
}

// gathered is a list of several pages as one answer.
type gathered struct {
	member string
	last   page
	rows   []json.RawMessage
}

func (g *gathered) add(p page) {
	g.rows = append(g.rows, p.rows...)
	g.last = p
}

func (g *gathered) text() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range g.last.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(name) //nolint:errchkjson // a text
		b.Write(key)
		b.WriteByte(':')
		if name == g.member {
			b.Write(joinList(g.rows))
			continue
		}
		b.Write(g.last.values[name])
	}
	b.WriteByte('}')
	return b.Bytes()
}
