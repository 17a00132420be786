package bootstrap

import "strings"

// Defaults is the configuration of a process that nobody configured: every key at its default, no file and no
// environment read. home is AION_HOME, absolute.
func Defaults(home string) (Config, error) {
	home, err := resolveHome(home, nil)
	if err != nil {
		return Config{}, err
	}
	c := Config{Home: home, Origins: map[string]string{}}
	for _, k := range keys() {
		if problem := k.set(&c, strings.ReplaceAll(k.def, "<home>", home)); problem != "" {
			return Config{}, configRefusal("the default of %s: %s", k.name, problem)
		}
		c.Origins[k.name] = "default"
	}
	return c, nil
}
