package schema_test

import (
	"strings"
	"testing"

	"aion/domain/schema"
)

func BenchmarkValidate(b *testing.B) {
	s, err := schema.Compile([]byte(`{"type":"array","items":{"$ref":"#/$defs/R"},"$defs":{"R":{"type":"object","properties":` +
		`{"id":{"type":"integer"},"name":{"type":"string","maxLength":100},"tags":{"type":"array","items":{"enum":["a","b"]}}},` +
		`"required":["id","name"],"additionalProperties":false}}}`))
	if err != nil {
		b.Fatal(err)
	}
	for name, n := range map[string]int{"small": 1, "large": 20_000} {
		text := []byte("[" + strings.TrimSuffix(strings.Repeat(`{"id":12,"name":"a name of some length","tags":["a","b"]},`, n), ",") + "]")
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if v := s.Validate(text); v != nil {
					b.Fatal(v)
				}
			}
		})
	}
}
