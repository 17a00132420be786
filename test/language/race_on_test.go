//go:build race

package language_test

const raceEnabled = true
