package language_test

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// parts is how many tests share the random documents, so that they use the processors.
const parts = 4

// TestMain tells rapid how many documents to make, unless its own flag does.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", strconv.Itoa(documents()/parts)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
