package diag

// maxCompared bounds the length of words that are compared; longer ones are no typing mistake of each other.
const maxCompared = 64

// Closest gives the candidate that is most likely meant by name, or "" when none is near: at most a third of its
// characters may differ (one for short names), where a swap of neighbours counts as one. Of several equally near ones
// the first in byte order wins, so the answer does not depend on the order of candidates.
func Closest(name string, candidates []string) string {
	best, bestDistance := "", max(1, len(name)/3)+1
	if name == "" || len(name) > maxCompared {
		return ""
	}
	for _, c := range candidates {
		if c == name || len(c) > maxCompared {
			continue
		}
		d := distance(name, c, bestDistance)
		if d < bestDistance || d == bestDistance && best != "" && c < best {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the number of insertions, deletions, substitutions and swaps of neighbours between two words (optimal
// string alignment), or limit+1 when it is more than limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return min(above[len(b)], limit+1)
}
