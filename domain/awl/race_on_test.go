//go:build race

package awl_test

const raceEnabled = true
