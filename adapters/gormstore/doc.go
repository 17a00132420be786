// Package gormstore keeps everything that must survive the process in a SQLite file that one process owns. Reads go
// through gorm on read-only connections; every change goes through prepared statements on the one writing connection.
//
// What a caller may rely on: a call that answered without an error is on disk; a refused commit has left nothing; no
// error of gorm or SQLite leaves the package.
package gormstore
