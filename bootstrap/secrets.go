package bootstrap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
)

// Secret is a configured secret. Whatever prints a configuration prints that it is set, never what it is.
type Secret string

const (
	secretShown   = "(set)"
	secretFile    = "_file" // ends the name of the key that names a secret's file
	maxSecretFile = 64 << 10
)

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return secretShown
}

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// readSecrets fills the secrets whose file is named.
func readSecrets(c *Config) (findings []string) {
	table := keys()
	for _, k := range table {
		i := slices.IndexFunc(table, func(twin key) bool { return twin.name == k.name+secretFile })
		if k.kind != kindSecret || i < 0 {
			continue
		}
		twin := table[i]
		secret, path := k.field(c).(*Secret), *twin.field(c).(*string) //nolint:forcetypeassert // the table pairs kind and field
		if path == "" {
			continue
		}
		report := func(problem string) { findings = append(findings, prefix(c.Origins[twin.name], twin.name)+problem) }
		if *secret != "" {
			report(fmt.Sprintf("%s is set as well; keep one of the two", k.name))
			continue
		}
		text, exposed, err := readSecret(path)
		if err != nil {
			report(err.Error())
			continue
		}
		if exposed {
			c.Exposed = append(c.Exposed, fmt.Sprintf("%s: %s can be read by other users; chmod 600 %s", twin.name, path, path))
		}
		*secret = Secret(text)
		c.Origins[k.name] = c.Origins[twin.name]
	}
	return findings
}

// readSecret reads one secret: the file without its last newline. exposed says that other users can read it.
func readSecret(path string) (text string, exposed bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", false, fmt.Errorf("%s cannot be read: %w", path, unwrapPath(err))
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", false, fmt.Errorf("%s cannot be read: %w", path, unwrapPath(err))
	case info.IsDir():
		return "", false, fmt.Errorf("%s is a directory", path)
	case info.Mode().Perm()&0o022 != 0:
		return "", false, fmt.Errorf("%s has mode %04o, so others can replace the secret: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	content, err := io.ReadAll(io.LimitReader(file, maxSecretFile+1))
	if err != nil {
		return "", false, fmt.Errorf("%s cannot be read: %w", path, unwrapPath(err))
	}
	if len(content) > maxSecretFile {
		return "", false, fmt.Errorf("%s has more than %d bytes; a secret file has at most 64 KiB", path, maxSecretFile)
	}
	content = bytes.TrimSuffix(bytes.TrimSuffix(content, []byte("\n")), []byte("\r"))
	if len(content) == 0 {
		return "", false, fmt.Errorf("%s is empty", path)
	}
	return string(content), info.Mode().Perm()&0o044 != 0, nil
}

// unwrapPath drops the path that the standard library repeats.
func unwrapPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
