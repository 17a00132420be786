package auth

// ParseKeySet reads a key set and tells how many keys of it are used.
func ParseKeySet(text []byte) (used int, err error) {
	set, err := parseKeySet(text)
	for _, keys := range set {
		used += len(keys)
	}
	return used, err
}
