//go:build !linux

package gormstore

// networkFS cannot tell on this system.
func networkFS(string) string { return "" }

// freeBytes is not known here.
func freeBytes(string) int64 { return 0 }
