package bootstrap

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"aion/adapters/shell"
)

// setGrants reads `actions.env`: a list of objects in a file, JSON text in a variable or a flag.
func setGrants(field, raw any) string {
	if text, ok := raw.(string); ok {
		raw = nil
		if strings.TrimSpace(text) != "" {
			var list []any
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				return "is a list of objects; as a variable or a flag it is JSON text"
			}
			raw = list
		}
	}
	list, ok := raw.([]any)
	if raw != nil && !ok {
		return "is a list of objects with name, from_file or from_env, queues and secret"
	}
	grants := make([]shell.Grant, 0, len(list))
	for i, item := range list {
		g, problem := grant(item)
		if problem != "" {
			return fmt.Sprintf("item %d: %s", i+1, problem)
		}
		grants = append(grants, g)
	}
	*field.(*[]shell.Grant) = grants //nolint:forcetypeassert // the table pairs kind and field
	return ""
}

func grant(item any) (g shell.Grant, problem string) {
	members, ok := item.(map[string]any)
	if !ok {
		return g, "is no object"
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		var text string
		switch name {
		case "name", "from_file", "from_env", "secret":
			text, problem = scalar(members[name])
		case "queues":
			g.Queues, problem = parseList(members[name])
		default:
			problem = "is no member; there are name, from_file, from_env, queues and secret"
		}
		switch name {
		case "name":
			g.Name = text
		case "from_file":
			g.FromFile = expandHome(text)
		case "from_env":
			g.FromEnv = text
		case "secret":
			if g.Secret = text == "true"; !g.Secret && text != "false" {
				problem = "is neither true nor false"
			}
		}
		if problem != "" {
			return g, name + " " + problem
		}
	}
	return g, g.Problem()
}

// showGrants tells where variables come from, never what they hold.
func showGrants(grants []shell.Grant) []string {
	list := make([]string, 0, len(grants))
	for _, g := range grants {
		from := "file " + g.FromFile
		if g.FromEnv != "" {
			from = "variable " + g.FromEnv
		}
		secret := ""
		if g.Secret {
			secret = ", secret"
		}
		list = append(list, fmt.Sprintf("%s from %s for %s%s", g.Name, from, strings.Join(g.Queues, " "), secret))
	}
	return list
}
