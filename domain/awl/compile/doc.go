// Package compile makes the plan of a checked document. It decides nothing that the checker could refuse: a document without
// error findings has a plan, unless the plan would be too large or too deep to keep.
package compile
