package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"

	"go.yaml.in/yaml/v3"

	"aion/domain/awl/diag"
)

// profile is a saved context: a server, and who asks it.
type profile struct {
	Name      string `yaml:"name" json:"name"`
	Server    string `yaml:"server" json:"server"`
	Namespace string `yaml:"namespace,omitempty" json:"namespace,omitempty"`
	Subject   string `yaml:"subject,omitempty" json:"subject,omitempty"`
	TokenFile string `yaml:"token_file,omitempty" json:"token_file,omitempty"`
	TokenEnv  string `yaml:"token_env,omitempty" json:"token_env,omitempty"`
	CAFile    string `yaml:"ca_file,omitempty" json:"ca_file,omitempty"`
}

// contexts is contexts.yaml.
type contexts struct {
	Current  string    `yaml:"current" json:"current"`
	Contexts []profile `yaml:"contexts" json:"contexts"`

	file string
}

const maxContexts = 1 << 20

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// readContexts reads the saved contexts of a home; a file that is not there holds none.
func readContexts(home string) (*contexts, error) {
	c := &contexts{file: filepath.Join(home, "contexts.yaml")}
	f, err := os.Open(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fileRefusal("read", c.file, err)
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := readBounded(f, c.file, "a list of contexts", maxContexts)
	if err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return nil, &usage{message: fmt.Sprintf("%s is no list of contexts: %v", c.file, err), hint: "aion context save NAME writes one"}
	}
	return c, nil
}

// write keeps the contexts, whole or not at all.
func (c *contexts) write() error {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(c); err != nil {
		return err
	}
	return writePrivate(c.file, b.Bytes())
}

// writePrivate replaces a file that only this user may read.
func writePrivate(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fileRefusal("written", name, err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".write-*") // its mode is 0600
	if err != nil {
		return fileRefusal("written", name, err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fileRefusal("written", name, err), os.Remove(f.Name()))
	}
	return nil
}

func (c *contexts) find(name string) (*profile, error) {
	var names []string
	for i := range c.Contexts {
		if c.Contexts[i].Name == name {
			return &c.Contexts[i], nil
		}
		names = append(names, c.Contexts[i].Name)
	}
	wrong := &usage{message: fmt.Sprintf("there is no context %q", cut(name, 64)), hint: "aion context list shows them"}
	if near := diag.Closest(name, names); near != "" {
		wrong.hint = "did you mean " + near + "?"
	}
	return nil, wrong
}

// profile is the context that counts: the named one, else the current one unless a server of another origin is named.
func (w *where) profile(around *Surroundings) (profile, error) {
	name := cmp.Or(w.context, around.Getenv("AION_CONTEXT"))
	saved, err := readContexts(around.Home)
	if err != nil {
		return profile{}, err
	}
	chosen := cmp.Or(name, saved.Current)
	if chosen == "" {
		return profile{}, nil
	}
	found, err := saved.find(chosen)
	if err != nil {
		return profile{}, err
	}
	server := cmp.Or(w.server, around.Getenv("AION_SERVER"))
	switch {
	case server == "" || origin(server) == origin(found.Server):
		return *found, nil
	case name != "":
		return profile{}, &usage{message: fmt.Sprintf("context %s is for %s, and --server or AION_SERVER names %s; its token goes to its own server only", name, found.Server, server)}
	}
	return profile{}, nil
}

// origin is scheme, host and port of a server.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + u.Hostname() + ":" + port
}

// credential is the token that the context names, if any.
func (f profile) credential(around *Surroundings) (token, source string, err error) {
	switch {
	case f.TokenFile != "":
		token, err = readToken(f.TokenFile)
		return token, f.TokenFile, err
	case f.TokenEnv != "":
		if token = around.Getenv(f.TokenEnv); token == "" {
			return "", "", &usage{message: fmt.Sprintf("context %s takes its token from %s, which is not set", f.Name, f.TokenEnv)}
		}
		return token, f.TokenEnv, nil
	}
	return "", "", nil
}
