package bootstrap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"aion/domain"
	"aion/domain/awl/diag"
)

// source is what a process gives the configuration: flags (nil: none), environment, and the place to look for a file.
type source struct {
	flags   *pflag.FlagSet
	environ []string
	home    string // --home; empty: AION_HOME or ~/.aion
	file    string // --config; empty: AION_CONFIG, ./aion.yaml, <home>/config.yaml
	client  bool   // started by another program in a directory of its own: ./aion.yaml there is not for it
}

// load reads the configuration: flag over environment over file over default. All findings are reported at once, in one
// refusal.
func load(src source) (Config, error) {
	env := environment(src.environ)
	home, err := resolveHome(src.home, env)
	if err != nil {
		return Config{}, err
	}
	cfg := Config{Home: home, Origins: map[string]string{}}
	name, text, err := readFile(src, env, home)
	if err != nil {
		return Config{}, err
	}
	v := viper.New()
	var findings []string
	lines := map[string]int{}
	if name != "" {
		lines, findings = walkFile(name, text)
		v.SetConfigType("yaml")
		if len(findings) == 0 {
			if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
				findings = append(findings, fmt.Sprintf("%s: %v", name, err))
			}
		}
		cfg.File = name
	}
	for _, k := range keys() {
		v.SetDefault(k.name, strings.ReplaceAll(k.def, "<home>", home))
		if err := v.BindEnv(k.name, envName(k.name)); err != nil {
			return Config{}, fmt.Errorf("bind %s: %w", k.name, err)
		}
		origin := originOf(k, src.flags, env, name, lines)
		cfg.Origins[k.name] = origin
		raw := v.Get(k.name)
		if f := flagOf(src.flags, k); f != nil && f.Changed {
			raw = f.Value.String()
		} else if text, ok := env[envName(k.name)]; ok {
			raw = text // viper reads an empty variable as absent; here it is a value
		}
		if problem := k.set(&cfg, raw); problem != "" {
			findings = append(findings, prefix(origin, k.name)+problem)
		}
	}
	findings = append(findings, readSecrets(&cfg)...)
	findings = append(findings, crossChecks(cfg)...)
	if len(findings) > 0 {
		return Config{}, &domain.Error{Code: domain.CodeInvalidInput, Type: "ConfigurationInvalid", Message: strings.Join(findings, "\n")}
	}
	cfg.Ignored = unknownVariables(env)
	cfg.Exposed = append(cfg.Exposed, exposedKey(cfg)...)
	return cfg, nil
}

// prefix puts the place of a value before a finding about it.
func prefix(origin, key string) string {
	switch {
	case strings.HasPrefix(origin, "file "):
		return strings.TrimPrefix(origin, "file ") + ": " + key + ": "
	case strings.HasPrefix(origin, "env "):
		return strings.TrimPrefix(origin, "env ") + ": " + key + ": "
	case strings.HasPrefix(origin, "flag "):
		return strings.TrimPrefix(origin, "flag ") + ": "
	}
	return key + ": "
}

func originOf(k key, flags *pflag.FlagSet, env map[string]string, file string, lines map[string]int) string {
	if f := flagOf(flags, k); f != nil && f.Changed {
		return "flag --" + f.Name
	}
	if _, ok := env[envName(k.name)]; ok {
		return "env " + envName(k.name)
	}
	if line, ok := lines[k.name]; ok {
		return fmt.Sprintf("file %s:%d", file, line)
	}
	return "default"
}

// flagOf is the flag that carries a key: its changed alias, else the flag of its own name; nil when there is none.
func flagOf(flags *pflag.FlagSet, k key) *pflag.Flag {
	if flags == nil {
		return nil
	}
	if k.alias != "" {
		if f := flags.Lookup(k.alias); f != nil && f.Changed {
			return f
		}
	}
	return flags.Lookup(k.name)
}

// addFlags gives a flag set one flag per key, and its alias.
func addFlags(flags *pflag.FlagSet) {
	for _, k := range keys() {
		if k.kind == kindSecret {
			continue // a command line is read by everybody on the machine
		}
		usage := k.doc
		if k.def != "" {
			usage += " (default " + k.def + ")"
		}
		flags.String(k.name, "", usage)
		flags.Lookup(k.name).DefValue = ""
		if k.alias != "" {
			flags.String(k.alias, "", "short for --"+k.name)
		}
	}
}

func envName(key string) string { return "AION_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }

func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	return env
}

// readFile finds the one configuration file: --config or AION_CONFIG (which must exist), ./aion.yaml, <home>/config.yaml.
func readFile(src source, env map[string]string, home string) (name string, text []byte, err error) {
	named := src.file
	if named == "" {
		named = env["AION_CONFIG"]
	}
	candidates := []string{filepath.Join(home, "config.yaml")}
	if !src.client {
		candidates = append([]string{"aion.yaml"}, candidates...)
	}
	if named != "" {
		candidates = []string{named}
	}
	for _, name := range candidates {
		text, err := readAtMost(name, maxFile)
		switch {
		case err == nil && len(text) > maxFile:
			return "", nil, configRefusal("%s has more than %d bytes; a configuration file has at most 1 MiB", name, maxFile)
		case err == nil:
			return name, text, nil
		case named == "" && errors.Is(err, fs.ErrNotExist):
			continue
		default:
			return "", nil, configRefusal("the configuration file %s cannot be read: %v", name, errors.Unwrap(err))
		}
	}
	return "", nil, nil
}

const maxFile = 1 << 20 // bytes of a configuration file

// readAtMost reads a file, and one byte over the limit of a file that has more.
func readAtMost(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// known variables of the command line that are no configuration keys.
var commandVariables = []string{
	"AION_HOME", "AION_CONFIG", "AION_SERVER", "AION_NAMESPACE", "AION_TOKEN", "AION_SUBJECT", "AION_DEPLOY",
	"AION_CONTEXT", "AION_OUTPUT", "AION_PAGER", "AION_CA_FILE", "AION_PORT", "AION_SERVICE_HOST", "AION_SERVICE_PORT", "AION_MCP_SCHEMAS", "AION_ACTIVITY_KEY",
}

// unknownVariables warns of AION_* variables that mean nothing here: container platforms inject some, so they are no error.
func unknownVariables(env map[string]string) []string {
	names := make([]string, 0, 64)
	for _, k := range keys() {
		names = append(names, envName(k.name))
	}
	known := map[string]bool{}
	for _, name := range append(names, commandVariables...) {
		known[name] = true
	}
	var warnings []string
	for name := range env {
		if !strings.HasPrefix(name, "AION_") || known[name] || strings.HasPrefix(name, "AION_PORT_") || strings.HasPrefix(name, "AION_SERVICE_") {
			continue
		}
		text := name + " is set and is no configuration variable"
		if near := nearVariables(name, names); near != "" {
			text += "; did you mean " + near + "?"
		}
		warnings = append(warnings, text)
	}
	sort.Strings(warnings)
	return warnings
}

// nearVariables is the variable whose name is written nearly like this one, else the few of its group: AION_SERVER_ADDR has
// no neighbour, and means one of AION_SERVER_*.
func nearVariables(name string, names []string) string {
	if near := diag.Closest(name, names); near != "" {
		return near
	}
	const few = 4
	for cut := strings.LastIndexByte(name, '_'); cut > len("AION"); cut = strings.LastIndexByte(name[:cut], '_') {
		var group []string
		for _, other := range names {
			if strings.HasPrefix(other, name[:cut+1]) {
				group = append(group, other)
			}
		}
		switch {
		case len(group) > few:
			return strings.Join(group[:few], ", ") + " or another " + name[:cut+1] + "…"
		case len(group) > 0:
			return strings.Join(group, " or ")
		}
	}
	return ""
}

func configRefusal(format string, args ...any) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "ConfigurationInvalid", Message: fmt.Sprintf(format, args...)}
}
