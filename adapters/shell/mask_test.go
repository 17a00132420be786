package shell_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"aion/adapters/shell"

	"pgregory.net/rapid"
)

// naive masks a whole text the slow way: whatever is part of a secret is hidden, and secrets that overlap are one.
func naive(values []string, text string) string {
	var b strings.Builder
	hidden := 0 // up to here
	for i := range len(text) {
		end := 0
		for _, v := range values {
			if len(v) >= 8 && strings.HasPrefix(text[i:], v) {
				end = max(end, i+len(v))
			}
		}
		if end > 0 && i >= hidden {
			b.WriteString("***")
		}
		if hidden = max(hidden, end); i >= hidden {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// actions 63: whatever the secrets, the text and the edges between reads.
func TestWhatIsMaskedIsWhatANaiveSearchFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// Few letters, so that secrets begin, end and hold one another.
		word := func(least, most int) *rapid.Generator[string] {
			return rapid.StringOfN(rapid.SampledFrom([]rune("ab\n")), least, most, -1)
		}
		values := rapid.SliceOfN(rapid.OneOf(word(1, 9), word(8, 12), word(8, 40)), 0, 6).Draw(t, "secrets")
		var text strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "pieces") {
			piece := word(0, 9).Draw(t, "text")
			if len(values) > 0 && rapid.Bool().Draw(t, "a secret") {
				v := rapid.SampledFrom(values).Draw(t, "which")
				piece = v[rapid.IntRange(0, len(v)-1).Draw(t, "from"):]
			}
			text.WriteString(piece)
		}
		whole := text.String()
		var parts [][]byte
		for rest := []byte(whole); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "read")
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		shown, most := shell.Mask(values, parts...), 0
		for _, v := range values {
			most = max(most, len(v))
		}
		if got, want := strings.Join(shown, ""), naive(values, whole); got != want {
			t.Fatalf("%q without %q is %q, want %q", whole, values, got, want)
		}
		if held := shown[len(shown)-1]; len(held) >= most+3 {
			t.Fatalf("%d bytes were held back, and the longest secret has %d", len(held), most)
		}
	})
}

func TestLinesOfASecretHaveNoLineBreaks(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"a": `["a"]`, "a\nb": `["a" "b"]`, "a\r\nb\r": `["a" "b"]`, "a\n\n": `["a" "" ""]`, "a\rb": `["a\rb"]`,
	} {
		if got := fmt.Sprintf("%q", shell.LinesOf(value)); got != want {
			t.Errorf("%q: %s", value, got)
		}
	}
}

// key is like a private key in a file: lines of base64.
func key(lines int) string {
	r := rand.New(rand.NewPCG(1, 2))
	raw := make([]byte, 48*lines)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	all := []string{"-----BEGIN PRIVATE KEY-----"}
	for text := base64.StdEncoding.EncodeToString(raw); len(text) > 0; text = text[64:] {
		all = append(all, text[:64])
	}
	return strings.Join(append(all, "-----END PRIVATE KEY-----"), "\n")
}

// BenchmarkMask reads text in which no line is the key's, text that begins to be the key all the time, and the key; all
// must cost about the same.
func BenchmarkMask(b *testing.B) {
	secret := key(50)
	values := append(shell.LinesOf(secret), secret, strings.Repeat("a", 2000)+"b")
	lines := strings.Split(secret, "\n")
	almost := secret[:len(secret)-1] + "\n"
	for name, unit := range map[string]string{
		"other text": "the quick brown fox jumps over the lazy dog\n", "other base64": strings.TrimSuffix(strings.SplitN(key(90), "\n", 60)[59], "\n")[:60],
		"beginnings": lines[1][:63] + lines[2][:63], "almost the key": almost, "a long run": strings.Repeat("a", 1999), "the key": secret + "\n",
	} {
		text := bytes.Repeat([]byte(unit), 1<<20/len(unit))
		var parts [][]byte
		for rest := text; len(rest) > 0; rest = rest[min(len(rest), 65536):] {
			parts = append(parts, rest[:min(len(rest), 65536)])
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				shell.Mask(values, parts...)
			}
		})
	}
	b.Run("no text", func(b *testing.B) {
		for b.Loop() {
			shell.Mask(values)
		}
	})
}
