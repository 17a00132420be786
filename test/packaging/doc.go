// Package packaging holds the tests of what is shipped beside the binary: the unit, the image and the alert rules.
package packaging
