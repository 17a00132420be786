//go:build !race

package awl_test

const raceEnabled = false
