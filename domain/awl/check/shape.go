package check

import "aion/domain/schema"

// shape is a list of fields, ready for look-ups.
type shape struct {
	types    map[string]*schema.Type
	required []string
}

// shapes remembers the shapes of field lists and the variants of enums, by their first member.
type shapes struct {
	fields   map[*schema.Field]*shape
	variants map[*string]map[string]int
}

func newShapes() shapes {
	return shapes{fields: map[*schema.Field]*shape{}, variants: map[*string]map[string]int{}}
}

func (s *shapes) of(fields []schema.Field) *shape {
	if len(fields) == 0 {
		return &shape{}
	}
	if known, ok := s.fields[&fields[0]]; ok {
		return known
	}
	sh := &shape{types: make(map[string]*schema.Type, len(fields))}
	for _, f := range fields {
		sh.types[f.Name] = f.Type
		if !isOptional(f.Type) {
			sh.required = append(sh.required, f.Name)
		}
	}
	s.fields[&fields[0]] = sh
	return sh
}

// numbers gives the place of each variant of an enum.
func (s *shapes) numbers(variants []string) map[string]int {
	if len(variants) == 0 {
		return nil
	}
	set, ok := s.variants[&variants[0]]
	if !ok {
		set = make(map[string]int, len(variants))
		for i, v := range variants {
			set[v] = i
		}
		s.variants[&variants[0]] = set
	}
	return set
}
