// Package bootstrap alone knows every room: it reads the configuration, builds the program from the leaves up and holds
// the one list of what runs, in start order; stop is that list backwards.
package bootstrap
