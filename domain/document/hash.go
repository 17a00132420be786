package document

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Import is one file that a document imports.
type Import struct {
	Path    string
	Bytes   []byte
	Missing bool // the file cannot be read, or the path breaks the rule of imports
}

// ContentHash names a document together with the files it imports: 64 lower-case hex digits (awl 9.3). It is the version of
// whatever is deployed from it. The imports may stand in any order; a path that stands twice counts once.
func ContentHash(source []byte, imports []Import) string {
	sorted := slices.Clone(imports)
	slices.SortStableFunc(sorted, func(a, b Import) int { return strings.Compare(a.Path, b.Path) })
	sorted = slices.CompactFunc(sorted, func(a, b Import) bool { return a.Path == b.Path })
	h := sha256.New()
	h.Write(source)
	for _, i := range sorted {
		h.Write([]byte{0})
		h.Write([]byte(i.Path))
		h.Write([]byte{0})
		if i.Missing {
			h.Write([]byte("missing"))
			continue
		}
		sum := sha256.Sum256(i.Bytes)
		h.Write([]byte(hex.EncodeToString(sum[:])))
	}
	return hex.EncodeToString(h.Sum(nil))
}
