package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Schema is a JSON Schema (2020-12) as plain data. Definitions are those of the document it stands in.
type Schema struct {
	node any
	defs map[string]any
}

// Decode reads JSON with whole numbers kept apart from texts.
func Decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("bytes after the value")
	}
	return v, nil
}

// NewSchema reads a schema document.
func NewSchema(text []byte) (*Schema, error) {
	v, err := Decode(text)
	if err != nil {
		return nil, err
	}
	root, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a schema is an object")
	}
	defs, _ := root["$defs"].(map[string]any)
	return &Schema{node: root, defs: defs}, nil
}

// Definition is a named definition of the document.
func (s *Schema) Definition(name string) (*Schema, error) {
	node, ok := s.defs[name]
	if !ok {
		return nil, fmt.Errorf("no definition %s", name)
	}
	return &Schema{node: node, defs: s.defs}, nil
}

// Validate gives the first violation of a value, or nil.
func (s *Schema) Validate(text []byte) error {
	v, err := Decode(text)
	if err != nil {
		return err
	}
	return s.check(s.node, v, "")
}

func (s *Schema) check(node, v any, at string) error {
	if admits, ok := node.(bool); ok {
		if !admits {
			return fmt.Errorf("%s: nothing is admitted here", at)
		}
		return nil
	}
	n, ok := node.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: no schema: %v", at, node)
	}
	for keyword, operand := range n {
		if err := s.keyword(n, keyword, operand, v, at); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) keyword(n map[string]any, keyword string, operand, v any, at string) error {
	switch keyword {
	case "$defs", "$schema", "$id", "title", "description", "default", "examples", "deprecated":
		return nil
	case "$ref":
		target, ok := s.defs[strings.TrimPrefix(operand.(string), "#/$defs/")]
		if !ok {
			return fmt.Errorf("%s: %v leads nowhere", at, operand)
		}
		return s.check(target, v, at)
	case "allOf", "anyOf", "not":
		return s.combine(keyword, operand, v, at)
	case "type", "enum", "const":
		return value(keyword, operand, v, at)
	case "properties", "required", "additionalProperties", "propertyNames":
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		return s.object(n, keyword, operand, object, at)
	case "items", "minItems", "maxItems", "uniqueItems":
		array, ok := v.([]any)
		if !ok {
			return nil
		}
		return s.array(keyword, operand, array, at)
	case "pattern", "format", "minLength", "maxLength":
		text, ok := v.(string)
		if !ok {
			return nil
		}
		return ofText(keyword, operand, text, at)
	case "minimum", "maximum":
		return bound(keyword, operand, v, at)
	}
	return fmt.Errorf("%s: unknown keyword %s", at, keyword)
}

func (s *Schema) combine(keyword string, operand, v any, at string) error {
	if keyword == "not" {
		if s.check(operand, v, at) == nil {
			return fmt.Errorf("%s: what must not fit does", at)
		}
		return nil
	}
	var last error
	for _, alternative := range operand.([]any) {
		err := s.check(alternative, v, at)
		if err != nil && keyword == "allOf" {
			return err
		}
		if err == nil && keyword == "anyOf" {
			return nil
		}
		last = err
	}
	if keyword == "anyOf" {
		return fmt.Errorf("%s: fits no alternative: %w", at, last)
	}
	return nil
}

func value(keyword string, operand, v any, at string) error {
	var ok bool
	switch keyword {
	case "type":
		names, several := operand.([]any)
		if !several {
			names = []any{operand}
		}
		ok = slices.ContainsFunc(names, func(name any) bool { return isOf(name.(string), v) })
	case "enum":
		ok = slices.ContainsFunc(operand.([]any), func(x any) bool { return reflect.DeepEqual(x, v) })
	case "const":
		ok = reflect.DeepEqual(operand, v)
	}
	if !ok {
		return fmt.Errorf("%s: %s %v refuses %.200v", at, keyword, operand, v)
	}
	return nil
}

func isOf(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	case json.Number:
		f, err := v.Float64()
		return name == "number" || name == "integer" && err == nil && f == math.Trunc(f)
	}
	return false
}

func (s *Schema) object(n map[string]any, keyword string, operand any, object map[string]any, at string) error {
	properties, _ := n["properties"].(map[string]any)
	switch keyword {
	case "required":
		for _, name := range operand.([]any) {
			if _, there := object[name.(string)]; !there {
				return fmt.Errorf("%s: %v is missing", at, name)
			}
		}
	case "properties":
		for name, property := range properties {
			if v, there := object[name]; there {
				if err := s.check(property, v, at+"/"+name); err != nil {
					return err
				}
			}
		}
	case "additionalProperties":
		for name, v := range object {
			if _, known := properties[name]; known {
				continue
			}
			if err := s.check(operand, v, at+"/"+name); err != nil {
				return err
			}
		}
	case "propertyNames":
		for name := range object {
			if err := s.check(operand, name, at+"/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Schema) array(keyword string, operand any, array []any, at string) error {
	switch keyword {
	case "items":
		for i, v := range array {
			if err := s.check(operand, v, fmt.Sprintf("%s/%d", at, i)); err != nil {
				return err
			}
		}
	case "minItems":
		return atLeast(at, keyword, len(array), operand)
	case "maxItems":
		return atMost(at, keyword, len(array), operand)
	case "uniqueItems":
		for i := range array {
			for j := range i {
				if reflect.DeepEqual(array[i], array[j]) {
					return fmt.Errorf("%s: elements %d and %d are equal", at, j, i)
				}
			}
		}
	}
	return nil
}

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func ofText(keyword string, operand any, text, at string) error {
	switch keyword {
	case "pattern":
		if !regexp.MustCompile(operand.(string)).MatchString(text) {
			return fmt.Errorf("%s: %.200q does not match %v", at, text, operand)
		}
	case "minLength":
		return atLeast(at, keyword, utf8.RuneCountInString(text), operand)
	case "maxLength":
		return atMost(at, keyword, utf8.RuneCountInString(text), operand)
	case "format":
		_, err := time.Parse(time.RFC3339, text)
		if operand == "date-time" && err != nil || operand == "uuid" && !uuidShape.MatchString(text) {
			return fmt.Errorf("%s: %.200q is no %v", at, text, operand)
		}
	}
	return nil
}

func bound(keyword string, operand, v any, at string) error {
	number, ok := v.(json.Number)
	if !ok {
		return nil
	}
	is, _ := number.Float64()
	limit, _ := operand.(json.Number).Float64()
	if keyword == "minimum" && is < limit || keyword == "maximum" && is > limit {
		return fmt.Errorf("%s: %s %v refuses %v", at, keyword, operand, number)
	}
	return nil
}

func atLeast(at, keyword string, n int, operand any) error {
	if limit, _ := operand.(json.Number).Int64(); int64(n) < limit {
		return fmt.Errorf("%s: %s %v refuses %d", at, keyword, operand, n)
	}
	return nil
}

func atMost(at, keyword string, n int, operand any) error {
	if limit, _ := operand.(json.Number).Int64(); int64(n) > limit {
		return fmt.Errorf("%s: %s %v refuses %d", at, keyword, operand, n)
	}
	return nil
}
