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
	variants map[*string]map[string]bool
}

func newShapes() shapes {
	return shapes{fields: map[*schema.Field]*shape{}, variants: map[*string]map[string]bool{}}
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

func (s *shapes) hasVariant(enum *schema.Type, name string) bool {
	if len(enum.Variants) == 0 {
		return false
	}
	set, ok := s.variants[&enum.Variants[0]]
	if !ok {
		set = make(map[string]bool, len(enum.Variants))
		for _, v := range enum.Variants {
			set[v] = true
		}
		s.variants[&enum.Variants[0]] = set
	}
	return set[name]
}
