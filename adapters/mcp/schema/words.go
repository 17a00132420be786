package schema

import (
	"fmt"
	"strings"

	"aion/adapters/web/jsontext"
	"aion/domain"
)

// Unknown says that a name is not known and which known one is nearest: edit distance at most 2, or equal without `_`
// and case.
func Unknown(what, name string, known []string) string {
	message := fmt.Sprintf("unknown %s `%s`", what, domain.Quote(name, 200))
	if nearest := Nearest(name, known); nearest != "" {
		return message + "; did you mean `" + nearest + "`?"
	}
	if len(known) == 0 {
		return message + "; no " + what + " is taken here"
	}
	if len(known) <= 20 {
		return message + "; known are `" + strings.Join(known, "`, `") + "`"
	}
	return message
}

// Nearest gives the known name that name was most likely meant to be, and nothing when none is near.
func Nearest(name string, known []string) string {
	if len(name) > 256 {
		return ""
	}
	best, distance := "", 3
	for _, candidate := range known {
		if plain(candidate) == plain(name) {
			return candidate
		}
		if d := edits([]rune(name), []rune(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// edits is the Levenshtein distance.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

func typeList(types []string) string {
	words := make([]string, len(types))
	for i, name := range types {
		words[i] = withArticle(name)
	}
	return strings.Join(words, " or ")
}

func withArticle(name string) string {
	switch name {
	case "null":
		return "null"
	case "object", "array", "integer":
		return "an " + name
	}
	return "a " + name
}

func describe(kind jsontext.Kind, value []byte) string {
	switch kind {
	case jsontext.Object:
		return "an object"
	case jsontext.Array:
		return "an array"
	case jsontext.String:
		return "a string"
	case jsontext.Null:
		return "null"
	case jsontext.Number, jsontext.Boolean:
	}
	return show(value)
}

func enumList(values [][]byte) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = show(value)
	}
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

// show quotes a foreign value for a message.
func show(value []byte) string {
	return "`" + domain.Quote(strings.Trim(string(value), `"`), 200) + "`"
}
