package bootstrap

import (
	"fmt"
	"strings"
	"time"

	"aion/adapters/cli"
	"aion/adapters/shell"
)

// configFile is a commented configuration file with every key at its default: as it stands it sets nothing.
func configFile() string {
	var b strings.Builder
	b.WriteString("# Configuration of aion. Every key is shown with its default; values are taken flag > environment > this file > default.\n" +
		"# The environment name of a key is AION_ and its path in upper case, dots as _: AION_SERVER_LISTEN. At SIGHUP a server takes the keys marked R over.\n")
	var open []string
	for _, k := range keys() {
		parts := strings.Split(k.name, ".")
		groups := parts[:len(parts)-1]
		shared := 0
		for shared < len(groups) && shared < len(open) && groups[shared] == open[shared] {
			shared++
		}
		if shared == 0 {
			b.WriteString("\n")
		}
		for i := shared; i < len(groups); i++ {
			fmt.Fprintf(&b, "# %s%s:\n", strings.Repeat("  ", i), groups[i])
		}
		open = groups
		setting := fmt.Sprintf("%s%s: %s", strings.Repeat("  ", len(groups)), parts[len(parts)-1], k.spelled())
		fmt.Fprintf(&b, "# %-40s # %s: %s\n", setting, k.marked(), k.comment())
	}
	return b.String()
}

// marked is the kind, with a mark when a running server takes a change over.
func (k key) marked() string {
	if k.reload {
		return "R, " + k.kind
	}
	return k.kind
}

func (k key) comment() string {
	if len(k.choices) > 1 && !strings.Contains(k.doc, k.choices[1]) {
		return k.doc + " (" + strings.Join(k.choices, " or ") + ")"
	}
	return k.doc
}

func (k key) spelled() string {
	switch k.kind {
	case kindList, kindGrants:
		return "[]"
	case kindText, kindPath, kindSecret:
		return fmt.Sprintf("%q", k.def)
	}
	return k.def
}

// settings lists the effective values with their origins.
func settings(c Config) []cli.Setting {
	list := make([]cli.Setting, 0, 64)
	for _, k := range keys() {
		list = append(list, cli.Setting{Key: k.name, Value: k.value(&c), Origin: c.Origins[k.name]})
	}
	return list
}

func (k key) value(c *Config) any {
	switch field := k.field(c).(type) {
	case *string:
		return *field
	case *Secret:
		return field.String()
	case *bool:
		return *field
	case *int:
		return *field
	case *int64:
		return *field
	case *[]string:
		return *field
	case *[]shell.Grant:
		return showGrants(*field)
	case *time.Duration:
		return field.String()
	}
	return nil
}
