package gormstore

// SchemaVersion is the newest schema of a SQLite store that this binary knows.
func SchemaVersion() int { return int(knownSchema("sqlite")) }

func knownSchema(database string) int64 {
	steps, err := migrations(database)
	if err != nil {
		panic("gormstore: the embedded migrations: " + err.Error()) // a test opens a store with them
	}
	return int64(len(steps))
}
