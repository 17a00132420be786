package bootstrap

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// set parses one raw value into the key's field and answers what is wrong with it; empty: nothing.
func (k key) set(c *Config, raw any) string {
	if k.kind == kindList {
		list, problem := parseList(raw)
		if problem != "" {
			return problem
		}
		*k.field(c).(*[]string) = list //nolint:forcetypeassert // the table pairs kind and field
		return ""
	}
	if k.kind == kindGrants {
		return setGrants(k.field(c), raw)
	}
	text, problem := scalar(raw)
	if problem != "" {
		return problem
	}
	switch k.kind {
	case kindSecret:
		*k.field(c).(*Secret) = Secret(text) //nolint:forcetypeassert // the table pairs kind and field
		return ""
	case kindBool:
		return k.setBool(c, text)
	case kindInt:
		return k.setNumber(c, text, "a whole number", strconv.ParseInt)
	case kindSize:
		return k.setNumber(c, text, "a size such as 1048576, 64KiB or 2MiB", func(s string, _, _ int) (int64, error) { return parseSize(s) })
	case kindDuration:
		return k.setNumber(c, text, "a duration; write 30s, 5m or 24h", func(s string, _, _ int) (int64, error) { return parseDuration(s) })
	}
	if len(k.choices) > 0 && !slices.Contains(k.choices, text) {
		return fmt.Sprintf("must be one of %s; got %q", strings.Join(k.choices, ", "), text)
	}
	if k.kind == kindPath && text != "" {
		abs, err := filepath.Abs(expandHome(text))
		if err != nil {
			return fmt.Sprintf("%q is no usable path: %v", text, err)
		}
		text = abs
	}
	*k.field(c).(*string) = text //nolint:forcetypeassert // the table pairs kind and field
	return ""
}

func (k key) setBool(c *Config, text string) string {
	switch text {
	case "true", "false":
		*k.field(c).(*bool) = text == "true" //nolint:forcetypeassert // the table pairs kind and field
		return ""
	}
	return fmt.Sprintf("%q is neither true nor false", text)
}

func (k key) setNumber(c *Config, text, what string, parse func(string, int, int) (int64, error)) string {
	n, err := parse(text, 10, 64)
	if err != nil {
		return fmt.Sprintf("%q is not %s", text, what)
	}
	if n < k.min {
		return fmt.Sprintf("must be at least %s; got %s", k.show(k.min), text)
	}
	if k.max > 0 && n > k.max {
		return fmt.Sprintf("must be at most %s; got %s", k.show(k.max), text)
	}
	switch field := k.field(c).(type) {
	case *int:
		*field = int(n)
	case *int64:
		*field = n
	case *time.Duration:
		*field = time.Duration(n)
	}
	return ""
}

func (k key) show(n int64) string {
	if k.kind == kindDuration {
		return time.Duration(n).String()
	}
	return strconv.FormatInt(n, 10)
}

func scalar(raw any) (string, string) {
	switch v := raw.(type) {
	case nil:
		return "", ""
	case string:
		return v, ""
	case bool:
		return strconv.FormatBool(v), ""
	case int:
		return strconv.Itoa(v), ""
	case int64:
		return strconv.FormatInt(v, 10), ""
	case uint64:
		return strconv.FormatUint(v, 10), ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), ""
	}
	return "", "takes one value, not a list or an object"
}

func parseList(raw any) ([]string, string) {
	switch v := raw.(type) {
	case nil:
		return []string{}, ""
	case string:
		list := []string{}
		for item := range strings.SplitSeq(v, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		return list, ""
	case []any:
		list := make([]string, 0, len(v))
		for _, item := range v {
			text, problem := scalar(item)
			if problem != "" {
				return nil, "is a list of texts"
			}
			list = append(list, text)
		}
		return list, ""
	}
	return nil, "is a list of texts"
}

var sizeShape = regexp.MustCompile(`^(\d{1,12})(B|KiB|MiB|GiB)?$`)

func parseSize(s string) (int64, error) {
	m := sizeShape.FindStringSubmatch(s)
	if m == nil {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("size: %w", err)
	}
	return n << map[string]int{"": 0, "B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[m[2]], nil
}

func parseDuration(s string) (int64, error) {
	if s == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("duration: %w", err)
	}
	if d < 0 {
		return 0, strconv.ErrRange
	}
	return int64(d), nil
}

func expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}
