package action

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"aion/domain"
)

// RootUnresolved is the failure of a body that needs the workspace root when nothing names it; reason is that of the
// resolution, such as `cannot resolve Aion home: set AION_HOME or HOME` (actions 2.5).
func RootUnresolved(name, reason string) Failed {
	return Fail(Terminal, CodeRootUnresolved, fmt.Sprintf("action `%s` uses {workspace_root}, which is not known: %s", name, reason), nil)
}

// RootCreation is the failure of a body whose workspace root is missing and cannot be made, or is no directory.
func RootCreation(name, root string, err error) Failed {
	return Fail(Terminal, CodeRootCreation, fmt.Sprintf("action `%s` uses {workspace_root}, and %q could not be created: %v; "+
		"set `actions.workspace_root` to a directory that the server may write", name, domain.Quote(root, quotedValue), err), nil)
}

// RootFailure judges the text of the workspace root for a body that uses it; inWords tells whether it stands in a command
// line. nil: it is usable.
func RootFailure(name, root string, inWords bool) *Failed {
	quoted := domain.Quote(root, quotedValue)
	switch {
	case !utf8.ValidString(root) || strings.ContainsRune(root, 0):
		return terminal(CodeRootNotUTF8, "action `%s` uses {workspace_root}, and %q is not valid UTF-8 text; set "+
			"`actions.workspace_root` to another path", name, quoted)
	case !path.IsAbs(root):
		return terminal(CodeRootNotAbsolute, "action `%s` uses {workspace_root}, and %q is not an absolute path; set "+
			"`actions.workspace_root` to one that begins with `/`", name, quoted)
	case inWords && strings.ContainsFunc(root, shapes):
		return terminal(CodeRootShape, "action `%s` uses {workspace_root} in a command line, and the root %q would change the parsed "+
			"shape: it holds white space, a control character, a quote, a backslash or a brace; set `actions.workspace_root` to "+
			"another path", name, quoted)
	default:
		return nil
	}
}

// shapes reports whether a character could change how command text is read; `$` is an ordinary one.
func shapes(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("'\"`\\{}", r)
}
