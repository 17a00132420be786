package cli

import (
	"bytes"
	"fmt"
	"strings"
)

// The bounds of a difference: how many lines stand around a change, and how many pairs of lines are compared before what
// differs is shown as one block.
const (
	diffContext = 3
	diffPairs   = 4 << 20
)

// diffLine is one line of a difference: ' ' is in both texts, '-' in the old one, '+' in the new one.
type diffLine struct {
	sign byte
	text string
}

// unified shows how two texts differ, in the format that patch reads. Equal texts give "".
func unified(oldName, newName string, oldText, newText []byte) string {
	if bytes.Equal(oldText, newText) {
		return ""
	}
	lines := differ(splitLines(oldText), splitLines(newText))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", oldName, newName)
	oldAt, newAt := 1, 1
	for i := 0; i < len(lines); {
		if lines[i].sign == ' ' {
			i, oldAt, newAt = i+1, oldAt+1, newAt+1
			continue
		}
		from := max(0, i-diffContext)
		to := hunkEnd(lines, i)
		hunk := lines[from:to]
		oldFrom, newFrom := oldAt-(i-from), newAt-(i-from)
		oldCount, newCount := count(hunk, '-'), count(hunk, '+')
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", oldFrom, oldCount, newFrom, newCount)
		for _, l := range hunk {
			b.WriteByte(l.sign)
			b.WriteString(l.text)
			if !strings.HasSuffix(l.text, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
		oldAt, newAt, i = oldFrom+oldCount, newFrom+newCount, to
	}
	return b.String()
}

// hunkEnd is where the hunk ends that has a change at i: behind the context of its last change.
func hunkEnd(lines []diffLine, i int) int {
	last := i
	for j := i; j < len(lines) && j <= last+2*diffContext; j++ {
		if lines[j].sign != ' ' {
			last = j
		}
	}
	return min(len(lines), last+1+diffContext)
}

// count is how many lines of a hunk one of the texts has.
func count(hunk []diffLine, sign byte) int {
	n := 0
	for _, l := range hunk {
		if l.sign == ' ' || l.sign == sign {
			n++
		}
	}
	return n
}

func splitLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// differ aligns two lists of lines by their longest common subsequence.
func differ(a, b []string) []diffLine {
	var head, tail []diffLine
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, diffLine{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, diffLine{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	lines := append(head, middle(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		lines = append(lines, tail[i])
	}
	return lines
}

// middle aligns what is left between the common ends.
func middle(a, b []string) []diffLine {
	var lines []diffLine
	i, j := 0, 0
	if len(a)*len(b) <= diffPairs {
		common := subsequences(a, b)
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				lines = append(lines, diffLine{' ', a[i]})
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				lines = append(lines, diffLine{'-', a[i]})
				i++
			default:
				lines = append(lines, diffLine{'+', b[j]})
				j++
			}
		}
	}
	for ; i < len(a); i++ {
		lines = append(lines, diffLine{'-', a[i]})
	}
	for ; j < len(b); j++ {
		lines = append(lines, diffLine{'+', b[j]})
	}
	return lines
}

// subsequences gives the length of the longest common subsequence of each pair of tails.
func subsequences(a, b []string) [][]int32 {
	table := make([][]int32, len(a)+1)
	for i := range table {
		table[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}
