package schema

import (
	"strings"
	"unicode/utf8"
)

// shorten cuts a foreign text for use in a message.
func shorten(s string) string {
	const most = 64
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// token adds a reference token to a JSON pointer (RFC 6901).
func token(pointer, name string) string {
	if strings.ContainsAny(name, "~/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	}
	return pointer + "/" + name
}
