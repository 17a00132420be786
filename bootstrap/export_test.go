package bootstrap

import "github.com/spf13/pflag"

// ConfigFile is the commented configuration file.
var ConfigFile = configFile

// Settings lists the effective values as they are shown.
var Settings = settings

// EnvName maps a key to its variable.
var EnvName = envName

// KeyNames lists the configuration keys.
func KeyNames() []string {
	var names []string
	for _, k := range keys() {
		names = append(names, k.name)
	}
	return names
}

// ReloadedKeys lists the keys that a running server takes over.
func ReloadedKeys() []string {
	var names []string
	for _, k := range keys() {
		if k.reload {
			names = append(names, k.name)
		}
	}
	return names
}

// Load reads a configuration as a process would.
func Load(args, environ []string, home, file string) (Config, error) {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	addFlags(flags)
	if err := flags.Parse(args); err != nil {
		return Config{}, err
	}
	return load(source{flags: flags, environ: environ, home: home, file: file})
}

// MakeHome creates AION_HOME.
var MakeHome = makeHome

// Listening tells where a server answers.
var Listening = listening
