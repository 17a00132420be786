package httpapi

// ReadBody reads a body as a route with these members does.
func ReadBody(text []byte, members ...string) error {
	_, err := readBody(text, members)
	return err
}

// Plain is a text without control sequences.
func Plain(text string) string { return plain(text) }
