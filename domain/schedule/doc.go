// Package schedule holds when a schedule fires and what becomes of each fire: the lines that say when, zones, overlap, catch-up and jitter. Time
// is passed in and zones are given; the application reads the store and starts the runs.
package schedule
