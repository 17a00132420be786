package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// report prints figures as they come and the wanted ratios once more at the end.
type report struct {
	w      io.Writer
	short  bool // sizes are too small for a verdict
	ratios []string
}

func (r *report) section(name, title string) { fmt.Fprintf(r.w, "\n%s: %s\n", name, title) }

// figure prints one value with its unit.
func (r *report) figure(name, format string, args ...any) {
	fmt.Fprintf(r.w, "  %-58s %s\n", name, fmt.Sprintf(format, args...))
}

// atLeast and atMost print a value that is wanted on one side of a bound, and remember it for the summary.
func (r *report) atLeast(name string, got, bound float64, unit string) {
	r.wanted(name, got, "at least", bound, unit, got >= bound)
}

func (r *report) atMost(name string, got, bound float64, unit string) {
	r.wanted(name, got, "at most", bound, unit, got <= bound)
}

func (r *report) wanted(name string, got float64, side string, bound float64, unit string, met bool) {
	verdict := "met"
	switch {
	case r.short:
		verdict = "not judged"
	case !met:
		verdict = "NOT MET"
	}
	line := fmt.Sprintf("  %-58s %.2f%s (wanted: %s %s%s)  %s", name, got, unit, side, trim(bound), unit, verdict)
	fmt.Fprintln(r.w, line)
	r.ratios = append(r.ratios, line)
}

func (r *report) summary() {
	if len(r.ratios) == 0 {
		return
	}
	fmt.Fprintf(r.w, "\nwanted ratios\n")
	for _, line := range r.ratios {
		fmt.Fprintln(r.w, line)
	}
}

func trim(f float64) string { return fmt.Sprint(math.Round(f*100) / 100) }

// median of values; the slice is sorted by it.
func median(values []float64) float64 { return quantile(values, 0.5) }

func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return values[min(int(q*float64(len(values))), len(values)-1)]
}

// micros is a duration as the bench prints it.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// spread says how far single rounds lie from the median: the reader's measure of noise.
func spread(values []float64) string {
	return fmt.Sprintf("(rounds %.0f to %.0f)", slices.Min(values), slices.Max(values))
}
