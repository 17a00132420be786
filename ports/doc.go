// Package ports holds what the application needs from outside, in its own words: one file per need. Adapters implement
// them; each is safe for concurrent use unless it says otherwise. Library errors never pass: every error that a port
// gives is a *domain.Error, or the cause of a context that ended.
package ports
