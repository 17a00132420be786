package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// object is one JSON object of an answer. Numbers keep their text.
type object map[string]any

func parseObject(text []byte) (object, error) {
	var o object
	if err := decodeJSON(text, &o); err != nil {
		return nil, unreadable(err)
	}
	return o, nil
}

// decodeJSON decodes one value; numbers stay as they are written.
func decodeJSON(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return dec.Decode(into)
}

// text is a scalar member as text; null and what is absent are empty.
func (o object) text(name string) string {
	switch v := o[name].(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	default:
		text, _ := json.Marshal(v) //nolint:errchkjson // it came from JSON
		return string(text)
	}
}

func (o object) at(name string) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, o.text(name))
	return at
}

func (o object) number(name string) int64 {
	n, _ := o[name].(json.Number)
	i, _ := n.Int64()
	return i
}

func (o object) flag(name string) bool { return o[name] == true }

func (o object) object(name string) object {
	inner, _ := o[name].(map[string]any)
	return inner
}

func (o object) list(name string) []object {
	items, _ := o[name].([]any)
	var list []object
	for _, item := range items {
		if inner, ok := item.(map[string]any); ok {
			list = append(list, inner)
		}
	}
	return list
}

func (o object) texts(name string) []string {
	items, _ := o[name].([]any)
	list := make([]string, 0, len(items))
	for _, item := range items {
		list = append(list, object{"": item}.text(""))
	}
	return list
}

func sortedNames(o object) []string { return slices.Sorted(maps.Keys(o)) }
