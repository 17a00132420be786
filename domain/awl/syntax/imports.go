package syntax

import "slices"

// ImportPaths gives the strings of all `schema("…")` sequences that the scanner finds, whether or not the document
// parses: distinct, in ascending byte order. They are what the document's content hash covers besides its own bytes.
func ImportPaths(src []byte) []string {
	var paths []string
	s := newScanner(string(src), nil)
	var window [4]token
	for window[3].kind != eof {
		copy(window[:], window[1:])
		window[3] = s.next()
		if window[0].is("schema") && window[1].kind == lparen && window[2].kind == str && !window[2].broken &&
			window[3].kind == rparen && !window[3].virtual {
			paths = append(paths, window[2].value)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
