package syntax

// inRecipe says whether a line of this indentation belongs to the block of a command, where lines are raw text.
func (s *scanner) inRecipe(width int) bool { return s.command && width > 0 }

// directive says whether the line at hand is a directive of a command.
func (s *scanner) directive() bool {
	w := s.peekWord()
	if w != "cwd" && w != "export" {
		return false
	}
	switch s.peekAt(len(w)) {
	case ' ', '\t', '"', '\r', '\n', 0:
		return true
	}
	return false
}

// rawLine queues the rest of the line as one token.
func (s *scanner) rawLine() {
	start := s.pos
	end := start
	for !s.atEOL() {
		if c := s.advance(); c != ' ' && c != '\t' && c != '\r' {
			end = s.pos
		}
	}
	t := token{kind: commandLine, text: s.src[start.Offset:end.Offset]}
	t.span.Start, t.span.End = start, end
	s.queue = append(s.queue, s.finish(t))
}
