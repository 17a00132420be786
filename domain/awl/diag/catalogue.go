package diag

import (
	"cmp"
	"slices"
)

// Entry is one row of the catalogue of findings. Message and Hint are templates: `{x}` is a placeholder that New fills.
type Entry struct {
	Code     string // AWL and four digits
	Severity Severity
	Rule     string // what a correct document does
	Message  string
	At       string // where the finding stands
	Hint     string
}

// catalogue is the one table of findings, ascending by code. It is never written to.
var catalogue = slices.Concat(textCodes(), nameCodes(), flowCodes(), bodyCodes())

// Catalogue lists every finding the language knows, ascending by code. The result belongs to the caller.
func Catalogue() []Entry { return slices.Clone(catalogue) }

// Lookup gives the entry of a code.
func Lookup(code string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(catalogue, code, func(e Entry, c string) int { return cmp.Compare(e.Code, c) })
	if !ok {
		return Entry{}, false
	}
	return catalogue[i], true
}
