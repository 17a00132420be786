// Package jsontext reads JSON text from foreign hands strictly: one value, valid UTF-8, bounded nesting, no member name
// twice. It splits objects by token, because decoding into structs matches names without case and a map forgets repeated
// ones. It knows no schema and no protocol.
package jsontext
