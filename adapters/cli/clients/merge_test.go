package clients_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aion/adapters/cli/clients"
)

func target(t testing.TB, name string) clients.Target {
	t.Helper()
	c, ok := clients.Find(name)
	if !ok {
		t.Fatalf("no target %s", name)
	}
	return c
}

func entry(t testing.TB, c clients.Target, s clients.Server) clients.Entry {
	t.Helper()
	e, err := c.Entry(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var launched = clients.Server{Command: "/bin/aion", Args: []string{"mcp", "bridge"}}

// change is one file before and after: installing, and taking away again. back is empty when that gives before.
type change struct{ name, before, after, back string }

func (c change) check(t *testing.T, to clients.Target, s clients.Server) {
	t.Helper()
	e := entry(t, to, s)
	got, err := to.Merge([]byte(c.before), "aion", e)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.after, string(got)); diff != "" {
		t.Fatalf("install: %s", diff)
	}
	again, err := to.Merge(got, "aion", e)
	if err != nil || string(again) != string(got) {
		t.Errorf("the second time: %v\n%s", err, again)
	}
	if state, err := to.State(got, "aion", e); err != nil || state != clients.Installed {
		t.Errorf("state %v, %v", state, err)
	}
	back, err := to.Remove(got, "aion")
	if err != nil {
		t.Fatal(err)
	}
	want := c.back
	if want == "" {
		want = c.before
	}
	if diff := cmp.Diff(want, string(back)); diff != "" {
		t.Errorf("uninstall: %s", diff)
	}
	if state, err := to.State(back, "aion", e); err != nil || state != clients.Absent {
		t.Errorf("state %v, %v", state, err)
	}
	if none, err := to.Remove(back, "aion"); err != nil || string(none) != string(back) {
		t.Errorf("nothing to take away: %v\n%s", err, none)
	}
}

// server 3.5: other entries, order, comments and indentation stay byte for byte.
func TestJSONKeepsEveryOtherByte(t *testing.T) {
	t.Parallel()
	for _, c := range []change{
		{"no file", "", "{\n  \"mcpServers\": {\n    \"aion\": {\n      \"command\": \"/bin/aion\",\n      \"args\": [\"mcp\", \"bridge\"]\n    }\n  }\n}\n", "{\n  \"mcpServers\": {}\n}\n"},
		{"an empty object", "{}", "{\n  \"mcpServers\": {\n    \"aion\": {\n      \"command\": \"/bin/aion\",\n      \"args\": [\"mcp\", \"bridge\"]\n    }\n  }\n}", "{\n  \"mcpServers\": {}\n}"},
		{
			"four spaces, comments and a neighbour",
			"// mine\n{\n    \"z\": 1, // z\n    \"mcpServers\": {\n        // first\n        \"other\": {\"command\": \"x\"} /* o */ // end\n    },\n    \"a\": [1,\n2 ]\n}\n",
			"// mine\n{\n    \"z\": 1, // z\n    \"mcpServers\": {\n        // first\n        \"other\": {\"command\": \"x\"}, /* o */ // end\n        \"aion\": {\n            \"command\": \"/bin/aion\",\n            \"args\": [\"mcp\", \"bridge\"]\n        }\n    },\n    \"a\": [1,\n2 ]\n}\n",
			"",
		},
		{
			"a trailing comma",
			"{\n\t\"mcpServers\": {\n\t\t\"other\": {},\n\t},\n}\n",
			"{\n\t\"mcpServers\": {\n\t\t\"other\": {},\n\t\t\"aion\": {\n\t\t\t\"command\": \"/bin/aion\",\n\t\t\t\"args\": [\"mcp\", \"bridge\"]\n\t\t},\n\t},\n}\n",
			"",
		},
		{
			"on one line",
			`{"a":1,"mcpServers":{"other":{"command":"x"}}}`,
			`{"a":1,"mcpServers":{"other":{"command":"x"},"aion":{"command":"/bin/aion","args":["mcp","bridge"]}}}`,
			"",
		},
		{
			"on one line with spaces and a trailing comma",
			`{"mcpServers": {"other": {},}}`,
			`{"mcpServers": {"other": {}, "aion": {"command": "/bin/aion", "args": ["mcp", "bridge"]},}}`,
			"",
		},
		{
			"lines that end with CR LF, and a mark at the beginning",
			"\ufeff{\r\n  \"mcpServers\": {\r\n    \"o\": 1\r\n  }\r\n}\r\n",
			"\ufeff{\r\n  \"mcpServers\": {\r\n    \"o\": 1,\r\n    \"aion\": {\r\n      \"command\": \"/bin/aion\",\r\n      \"args\": [\"mcp\", \"bridge\"]\r\n    }\r\n  }\r\n}\r\n",
			"",
		},
		{
			"an object that holds a comment",
			"{\n  \"mcpServers\": {\n    // none yet\n  }\n}",
			"{\n  \"mcpServers\": {\n    // none yet\n    \"aion\": {\n      \"command\": \"/bin/aion\",\n      \"args\": [\"mcp\", \"bridge\"]\n    }\n  }\n}",
			"",
		},
		{
			"another section",
			"{\n  \"theme\": \"dark\"\n}\n",
			"{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"aion\": {\n      \"command\": \"/bin/aion\",\n      \"args\": [\"mcp\", \"bridge\"]\n    }\n  }\n}\n",
			"{\n  \"theme\": \"dark\",\n  \"mcpServers\": {}\n}\n",
		},
		{
			"an entry of another kind, with what its user added",
			"{\n  \"mcpServers\": {\n    \"aion\": {\n      \"url\": \"http://x\", // old\n      \"disabled\": true,\n      \"args\": [],\n      \"env\": {\"A\": \"1\"}\n    },\n    \"b\": 1\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"aion\": {\n       // old\n      \"disabled\": true,\n      \"args\": [\"mcp\", \"bridge\"],\n      \"env\": {\"A\": \"1\"},\n      \"command\": \"/bin/aion\"\n    },\n    \"b\": 1\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"b\": 1\n  }\n}\n",
		},
		{"the first of one line", `{"mcpServers":{"aion":{}, "b":1}}`, `{"mcpServers":{"aion":{` + "\n  \"command\": \"/bin/aion\",\n  \"args\": [\"mcp\", \"bridge\"]\n" + `}, "b":1}}`, `{"mcpServers":{"b":1}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, target(t, "cursor"), launched)
		})
	}
}

func TestTOMLKeepsEveryOtherByte(t *testing.T) {
	t.Parallel()
	const ours = "[mcp_servers.aion]\ncommand = \"/bin/aion\"\nargs = [\"mcp\", \"bridge\"]\n"
	for _, c := range []change{
		{"no file", "", ours, ""},
		{"no line end", "model = 'x' # m", "model = 'x' # m\n\n" + ours, "model = 'x' # m\n"},
		{
			"tables after it, long strings and lists", "a = \"\"\"\n[mcp_servers.aion]\n\"\"\"\nl = [ # [mcp_servers.aion]\n  \"]\",\n]\n\n[mcp_servers.other]\ncommand = \"x\"\n",
			"a = \"\"\"\n[mcp_servers.aion]\n\"\"\"\nl = [ # [mcp_servers.aion]\n  \"]\",\n]\n\n[mcp_servers.other]\ncommand = \"x\"\n\n" + ours, "",
		},
		{
			"an entry of another kind, with what its user added",
			"[ mcp_servers . \"aion\" ] # us\nurl = \"http://x\"\n# keep\nstartup_timeout_sec = 9\nargs = [\n  'a', # one\n]\n\n[mcp_servers.aion.env]\nA = '1'\n\n# about b\n[b]\nc = 1\n",
			"[ mcp_servers . \"aion\" ] # us\ncommand = \"/bin/aion\"\n# keep\nstartup_timeout_sec = 9\nargs = [\"mcp\", \"bridge\"]\n\n[mcp_servers.aion.env]\nA = '1'\n\n# about b\n[b]\nc = 1\n",
			"\n# about b\n[b]\nc = 1\n",
		},
		{"inline, as it is wanted", "[mcp_servers]\nx = {}\n", "[mcp_servers]\nx = {}\n\n" + ours, ""},
		{"CR LF", "a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(ours, "\n", "\r\n"), ""},
		{"CR LF, another kind", "[mcp_servers.aion]\r\nurl = 'x'\r\n[z]\r\n", "[mcp_servers.aion]\r\ncommand = \"/bin/aion\"\r\nargs = [\"mcp\", \"bridge\"]\r\n[z]\r\n", "[z]\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, target(t, "codex"), launched)
		})
	}
}

// server 3.5: a file that does not parse is refused with its position.
func TestABrokenFileIsRefusedWithItsPosition(t *testing.T) {
	t.Parallel()
	for text, where := range map[string]string{
		"{": "1:2: ", "{\n  \"a\" 1}": "2:7: ", "{\"a\":1 \"b\":2}": "1:8: ", "{\"a\":tru}": "1:6: ", "[]": "no object", "{\"mcpServers\":[]}": "mcpServers is no object",
		"{\"mcpServers\":{\"aion\":null}}": "mcpServers.aion is no object", "{\"a\":1,\"a\":2}": "1:8: ", "{} x": "1:4: ", "{\"a\":\"\\q\"}": "1:6: ", "/* ": "1:1: ",
		"{\"ä\":\n\"x": "2:1: ", "{'a':1}": "1:2: ", "{\"a\":01}": "1:6: ", "{,}": "1:2: ", "{\"a\":[1,,2]}": "1:9: ", "\xff": "1:1: ", "null": "no object",
		strings.Repeat(`{"a":`, 600): "1:2561: ",
	} {
		e := entry(t, target(t, "cursor"), launched)
		if _, err := target(t, "cursor").Merge([]byte(text), "aion", e); err == nil || !strings.HasPrefix(err.Error(), where) && !strings.HasSuffix(err.Error(), where) &&
			!strings.Contains(err.Error(), where) {
			t.Errorf("%.40q: %v; want %s", text, err, where)
		}
	}
	for text, where := range map[string]string{
		"a = ": "1:5: ", "a = 1\nb = [": "2:", "[a]\n[a]\n": "", "mcp_servers = 1": "mcp_servers is no object", "mcp_servers = { x = {} }": "inside another",
		"[mcp_servers]\naion = { command = \"x\" }": "inside another", "mcp_servers.aion.command = 'x'": "inside another", "[[mcp_servers]]": "no object",
		"[mcp_servers.aion]\nurl = 'x'\n[mcp_servers.aion.http_headers]\na = 'b'\n": "inside another",
	} {
		e := entry(t, target(t, "codex"), launched)
		if _, err := target(t, "codex").Merge([]byte(text), "aion", e); err == nil || !strings.Contains(err.Error(), where) {
			t.Errorf("%q: %v; want %s", text, err, where)
		}
	}
}

func TestAnInlineTableThatFitsIsInstalled(t *testing.T) {
	t.Parallel()
	c := target(t, "codex")
	text := "[mcp_servers]\naion = { command = \"/bin/aion\", args = [\"mcp\", \"bridge\"], enabled = true }\n"
	if got, err := c.Merge([]byte(text), "aion", entry(t, c, launched)); err != nil || string(got) != text {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := c.Remove([]byte(text), "aion"); err == nil {
		t.Error("it was taken away")
	}
}

func TestEveryTargetWritesItsOwnForm(t *testing.T) {
	t.Parallel()
	remote := clients.Server{URL: "https://a.example/mcp", Token: true, Headers: []clients.Member{{Name: "x-aion-subject", Value: "ada"}}}
	want := map[string][3]string{
		"claude-code": {
			`{"mcpServers":{"aion":{"command":"/bin/aion","args":["mcp","bridge"]}}}`,
			`{"mcpServers":{"aion":{"type":"http","url":"https://a.example/mcp","headers":{"Authorization":"Bearer ${AION_TOKEN}","x-aion-subject":"ada"}}}}`,
			`{"mcpServers":{"aion":{"type":"http","url":"https://a.example/mcp"}}}`,
		},
		"claude-desktop": {`{"mcpServers":{"aion":{"command":"/bin/aion","args":["mcp","bridge"]}}}`, "", ""},
		"cursor": {
			`{"mcpServers":{"aion":{"command":"/bin/aion","args":["mcp","bridge"]}}}`,
			`{"mcpServers":{"aion":{"url":"https://a.example/mcp","headers":{"Authorization":"Bearer ${env:AION_TOKEN}","x-aion-subject":"ada"}}}}`,
			`{"mcpServers":{"aion":{"url":"https://a.example/mcp"}}}`,
		},
		"vscode": {
			`{"servers":{"aion":{"type":"stdio","command":"/bin/aion","args":["mcp","bridge"]}}}`,
			`{"servers":{"aion":{"type":"http","url":"https://a.example/mcp","headers":{"Authorization":"Bearer ${env:AION_TOKEN}","x-aion-subject":"ada"}}}}`,
			`{"servers":{"aion":{"type":"http","url":"https://a.example/mcp"}}}`,
		},
		"gemini": {
			`{"mcpServers":{"aion":{"command":"/bin/aion","args":["mcp","bridge"]}}}`,
			`{"mcpServers":{"aion":{"httpUrl":"https://a.example/mcp","headers":{"Authorization":"Bearer $AION_TOKEN","x-aion-subject":"ada"}}}}`,
			`{"mcpServers":{"aion":{"httpUrl":"https://a.example/mcp"}}}`,
		},
		"codex": {
			"[mcp_servers.aion]\ncommand = \"/bin/aion\"\nargs = [\"mcp\", \"bridge\"]\n",
			"[mcp_servers.aion]\nurl = \"https://a.example/mcp\"\nbearer_token_env_var = \"AION_TOKEN\"\nhttp_headers = { x-aion-subject = \"ada\" }\n",
			"[mcp_servers.aion]\nurl = \"https://a.example/mcp\"\n",
		},
	}
	for _, c := range clients.Targets() {
		for i, s := range []clients.Server{launched, remote, {URL: remote.URL}} {
			e, err := c.Entry(s)
			if want[c.Name][i] == "" {
				if err == nil {
					t.Errorf("%s takes %v", c.Name, s)
				}
				continue
			}
			text := c.Render("aion", e)
			if merged, err := c.Merge(nil, "aion", e); err != nil || string(merged) != text {
				t.Errorf("%s: %v: %s is not %s", c.Name, err, merged, text)
			}
			if c.Name != "codex" {
				text = compact(t, text)
			}
			if text != want[c.Name][i] {
				t.Errorf("%s: %s", c.Name, text)
			}
		}
	}
}

func compact(t testing.TB, text string) string {
	t.Helper()
	var out strings.Builder
	var v json.RawMessage
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// For any settings and any layout: installing changes one entry, and taking it away gives the file as it was.
func TestInstallingAndTakingAwayIsNoChange(t *testing.T) {
	t.Parallel()
	value := rapid.Custom(func(t *rapid.T) any {
		return rapid.OneOf(rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Int32(), func(n int32) any { return n }),
			rapid.Map(rapid.MapOf(rapid.StringMatching(`[a-z]{1,3}`), rapid.Int()), func(m map[string]int) any { return m }),
			rapid.Map(rapid.SliceOf(rapid.String()), func(l []string) any { return l })).Draw(t, "value")
	})
	rapid.Check(t, func(t *rapid.T) {
		tree := rapid.MapOf(rapid.StringMatching(`[a-zA-Z ]{1,6}`), value).Draw(t, "settings")
		servers := rapid.MapOfN(rapid.StringMatching(`[b-z]{1,4}`), value, 1, 4).Draw(t, "servers")
		tree["mcpServers"] = servers
		indent := rapid.SampledFrom([]string{"", " ", "  ", "    ", "\t", "-"}).Draw(t, "indent")
		before, err := json.MarshalIndent(tree, "", indent)
		if indent == "-" {
			before, err = json.Marshal(tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		c, _ := clients.Find("cursor")
		e, _ := c.Entry(launched)
		after, err := c.Merge(before, "aion", e)
		if err != nil {
			t.Fatalf("%v: %s", err, before)
		}
		servers["aion"] = map[string]any{"command": "/bin/aion", "args": []string{"mcp", "bridge"}}
		want, _ := json.Marshal(tree)
		var got any
		if json.Unmarshal(after, &got) != nil {
			t.Fatalf("no JSON: %s", after)
		}
		var wanted any
		_ = json.Unmarshal(want, &wanted)
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Fatal(diff)
		}
		if back, err := c.Remove(after, "aion"); err != nil || string(back) != string(before) {
			t.Fatalf("%v\n%s\nis not\n%s", err, back, before)
		}
	})
}

// FuzzMerge: any text is refused or changed in one entry only; the merge verifies that itself, so what is left to show is
// that it always ends, is stable, and can be taken back.
func FuzzMerge(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "{\"mcpServers\":{\"aion\":{\"url\":1,},},} // x", "{\n \"mcpServers\" : { /* */ \"a\":1 //\n}}", "[mcp_servers.aion]\nurl=''\n[[a.b]]\n", "a.b = '''x\n''' # c",
		"mcp_servers.x = 1\r\n", "[mcp_servers.aion.env]\na=1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range []string{"cursor", "codex"} {
			c, _ := clients.Find(name)
			e, _ := c.Entry(launched)
			after, err := c.Merge(text, "aion", e)
			if err != nil {
				continue
			}
			if again, err := c.Merge(after, "aion", e); err != nil || string(again) != string(after) {
				t.Errorf("%s, the second time: %v\n%q\n%q", name, err, after, again)
			}
			if _, err := c.Remove(after, "aion"); err != nil && !strings.Contains(fmt.Sprint(err), "inside another") {
				t.Errorf("%s, taking away: %v\n%q", name, err, after)
			}
		}
	})
}
