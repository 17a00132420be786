// Package gormstore keeps everything that must survive the process: in a SQLite file that one process owns, or in a
// Postgres database that several share. Reads go through gorm. On SQLite every change goes through prepared statements on
// the one writing connection, one transaction after the other; on Postgres each has a connection of the pool, locks the rows
// that it rests on and is sent in pipelines. Statements are written once for both (dialect).
//
// What a caller may rely on: a call that answered without an error is on disk; a refused commit has left nothing; no
// error of gorm or of a database leaves the package.
package gormstore
