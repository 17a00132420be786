//go:build !linux

package gormstore

// networkFS cannot tell on this system.
func networkFS(string) string { return "" }
