package gormstore

// SchemaVersion is the newest schema that this binary knows.
func SchemaVersion() int {
	steps, err := migrations("sqlite")
	if err != nil {
		panic("gormstore: the embedded migrations: " + err.Error()) // a test opens a store with them
	}
	return len(steps)
}
