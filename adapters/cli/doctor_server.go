package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
	"aion/adapters/cli/clients"
	"aion/domain"
)

// visit is the doctor at a server.
type visit struct {
	*session

	p     *Program
	g     *globals
	named bool  // somebody said which server
	err   error // why it cannot be asked
	there bool  // it answers

	probe  client.Answer // of readiness
	skew   time.Duration // its clock against this one's
	info   object        // GET /server; nil: it is not told
	denied error         // why not
}

const (
	mostSkew = 2 * time.Second
	allTools = 13
)

// visit finds the server. Whether it is ready is asked of one on this machine whatever its certificate says: no answer is trusted
// with anything.
func (f *doctorFlags) visit(cmd *cobra.Command, p *Program, g *globals, d *Doctor) *visit {
	v := &visit{p: p, g: g}
	if !d.Configured {
		v.err = errors.New("not looked at: the configuration is refused")
		return v
	}
	around, err := p.around(g.open())
	if err == nil {
		v.named, err = f.named(around)
	}
	if err == nil {
		w := f.where
		w.insecure = w.insecure || f.ready && !v.named
		v.session, err = w.session(cmd, p, g, around)
	}
	v.err = err
	return v
}

func (v *visit) close() {
	if v.session != nil {
		v.Close()
	}
}

// arrive asks for what several checks need.
func (v *visit) arrive(ctx context.Context) {
	if v.err != nil {
		return
	}
	began := time.Now()
	v.probe, v.err = v.Ask(ctx, client.Request{Path: "/health/ready", Root: true})
	if v.there = v.err == nil; !v.there {
		return
	}
	if at, err := http.ParseTime(v.probe.Header.Get("Date")); err == nil { // of whole seconds, cut off
		v.skew = at.Add(500 * time.Millisecond).Sub(began.Add(time.Since(began) / 2))
	}
	answer, err := v.Do(ctx, client.Request{Path: "/server"})
	if err == nil {
		v.info, err = parseObject(answer.Body)
	}
	v.denied = err
}

// checks are those that a server answers, by name.
func (v *visit) checks() map[string]func(context.Context) []Finding {
	return map[string]func(context.Context) []Finding{
		"server": v.server, "auth": v.present(v.auth), "listener": v.present(v.listener), "mcp": v.present(v.mcp), "clients": v.clients,
		"executor": v.present(v.executor), "audit": v.present(v.audit), "replicas": v.present(v.replicas),
	}
}

// present is a check that needs a server.
func (v *visit) present(look func(context.Context) []Finding) func(context.Context) []Finding {
	return func(ctx context.Context) []Finding {
		if !v.there {
			return []Finding{Warn("not looked at: no server answers", "")}
		}
		return look(ctx)
	}
}

// away says why no server answers. Nobody has to run one; one that was named has to be there.
func (v *visit) away() Finding {
	fix := ""
	if domain.TypeOf(v.err) == "NoServer" {
		fix = "aion server"
	}
	away := Fail(v.err, fix)
	if !v.named && (fix != "" || v.session == nil) {
		away.Status = StatusWarn
	}
	return away
}

// readiness is the probe alone.
func (v *visit) readiness(ctx context.Context) Finding {
	if v.err == nil {
		v.probe, v.err = v.Ask(ctx, client.Request{Path: "/health/ready", Root: true})
	}
	if v.err != nil {
		away := v.away()
		away.Status = StatusFail
		return away
	}
	return v.ready()
}

// ready reads the answer of the probe.
func (v *visit) ready() Finding {
	o, err := parseObject(v.probe.Body)
	if err != nil || o.text("status") == "" {
		return Fail(fmt.Errorf("what answers at %s is no aion server", v.Server()), "")
	}
	if v.probe.Status == http.StatusOK {
		return OK("ready at " + v.Server())
	}
	var why []string
	for _, check := range o.list("checks") {
		if check.text("status") != "pass" {
			why = append(why, check.text("name")+" ("+check.text("detail")+")")
		}
	}
	return Fail(fmt.Errorf("the server at %s is not ready: %s", v.Server(), cmp.Or(strings.Join(why, ", "), "it tells those with a credential why")), "")
}

func (v *visit) server(context.Context) []Finding {
	if !v.there {
		return []Finding{v.away()}
	}
	list := []Finding{v.ready()}
	build := strings.TrimSpace(v.probe.Header.Get("X-Aion-Build"))
	if theirs, _, _ := strings.Cut(build, " "); theirs != v.p.Build.Version {
		list = append(list, Warn(fmt.Sprintf("it is version %s, this program %s", cmp.Or(theirs, "unknown"), v.p.Build.Version), "aion version"))
	}
	if off := v.skew.Abs(); off > mostSkew {
		list = append(list, Warn(fmt.Sprintf("its clock is %s off this machine's; set both by NTP", off.Round(time.Second)), "date -u"))
	}
	if pending := v.info.texts("pending_restart"); len(pending) > 0 {
		list = append(list, Warn("changed keys wait for a restart: "+strings.Join(pending, ", "), ""))
	}
	return list
}

func (v *visit) auth(ctx context.Context) []Finding {
	answer, err := v.Do(ctx, client.Request{Path: "/whoami"})
	if err != nil {
		return []Finding{Fail(err, "aion doctor --token @FILE")}
	}
	who, err := parseObject(answer.Body)
	if err != nil {
		return []Finding{Fail(err, "")}
	}
	detail := fmt.Sprintf("mode %s: %s, namespaces %s, deploy %s", who.text("auth_mode"), who.text("subject"), strings.Join(who.texts("namespaces"), " "), who.text("deploy"))
	if len(who.texts("namespaces")) == 0 {
		return []Finding{Warn(detail+": no namespace can be reached", "")}
	}
	list := []Finding{OK(detail)}
	if who.text("auth_mode") == "jwks" {
		list = append(list, v.keys(ctx))
	}
	return list
}

// keys tells how old the issuer's keys are that the server has.
func (v *visit) keys(ctx context.Context) Finding {
	answer, err := v.Do(ctx, client.Request{Path: "/metrics", Root: true, Accept: "text/plain"})
	if err != nil {
		return Warn("the age of the issuer's keys is not told", "")
	}
	for line := range strings.Lines(string(answer.Body)) {
		if age, ok := strings.CutPrefix(line, "aion_jwks_age_seconds "); ok {
			return OK("the issuer's keys were fetched " + strings.TrimSpace(age) + " s ago")
		}
	}
	return Finding{Status: StatusFail, Detail: "the server has no keys of its issuer; look at auth.jwks_url and its log"}
}

func (v *visit) listener(ctx context.Context) []Finding {
	answer, err := v.Do(ctx, client.Request{Path: "/auth"})
	if err != nil {
		return []Finding{Fail(err, "")}
	}
	o, err := parseObject(answer.Body)
	if err != nil {
		return []Finding{Fail(err, "")}
	}
	detail := "auth.mode " + o.text("mode")
	if o.flag("loopback") {
		detail += ", loopback only"
	}
	if o.flag("insecure") {
		return []Finding{Warn("other machines reach it, and every caller is the operator: set auth.mode", "aion config show --origin auth.mode auth.allow_insecure")}
	}
	if !answer.Expires.IsZero() {
		return []Finding{Expiry(detail, answer.Expires, time.Now())}
	}
	return []Finding{OK(detail)}
}

// mcp speaks as a client of the newest revision does.
func (v *visit) mcp(ctx context.Context) []Finding {
	if enabled := v.info.object("mcp"); enabled != nil && !enabled.flag("enabled") {
		return []Finding{OK("mcp.enabled is false")}
	}
	if v.denied != nil {
		return []Finding{Warn("not looked at: "+Fail(v.denied, "").Detail, "")}
	}
	if _, err := v.rpc(ctx, "server/discover", ""); err != nil {
		return []Finding{Fail(fmt.Errorf("server/discover: %w", err), "aion mcp tools")}
	}
	answer, err := v.rpc(ctx, "tools/list", "")
	if err != nil {
		return []Finding{Fail(fmt.Errorf("tools/list: %w", err), "aion mcp tools")}
	}
	if n := len(answer.list("tools")); n != allTools {
		return []Finding{Fail(fmt.Errorf("it has %d tools and should have %d", n, allTools), "aion mcp tools")}
	}
	if _, err := v.rpc(ctx, "tools/list", "https://origin.invalid"); err == nil {
		return []Finding{Fail(errors.New("a page of a foreign origin is served; look at what stands in front of the server"), "")}
	}
	return []Finding{OK(fmt.Sprintf("revision %s, %d tools, foreign origins are refused", v.p.Build.MCP, allTools))}
}

func (v *visit) rpc(ctx context.Context, method, origin string) (object, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion": v.p.Build.MCP, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}}})
	if err != nil {
		return nil, err
	}
	header := map[string]string{"Mcp-Protocol-Version": v.p.Build.MCP, "Mcp-Method": method}
	if origin != "" {
		header["Origin"] = origin
	}
	answer, err := v.Ask(ctx, client.Request{
		Method: http.MethodPost, Path: "/mcp", Root: true, Body: body, Header: header, Accept: "application/json, text/event-stream",
	})
	if err != nil {
		return nil, err
	}
	o, err := parseObject(answer.Body)
	if err != nil || answer.Status != http.StatusOK || o.object("result") == nil {
		return nil, fmt.Errorf("it answers %d", answer.Status)
	}
	return o.object("result"), nil
}

// clients looks at the entries of MCP clients on this machine.
func (v *visit) clients(ctx context.Context) []Finding {
	if v.session == nil {
		return []Finding{Warn("not looked at: the configuration is refused", "")}
	}
	m, err := v.p.Backend.MCP(v.g.open())
	if err != nil {
		return []Finding{Fail(err, "")}
	}
	endpoint, _, _ := m.Endpoint(ctx, "")
	var list []Finding
	for _, t := range clients.Targets() {
		if _, err := os.Stat(t.Trace(m.Places)); err != nil {
			continue
		}
		file, err := t.File(m.Places, clients.User)
		if err != nil {
			continue
		}
		if entry, ok := entryFinding(t, file, m.Program, endpoint); ok {
			list = append(list, entry)
		}
	}
	if len(list) == 0 {
		return []Finding{OK("no client on this machine has an entry; aion mcp install lists the clients")}
	}
	return list
}

// entryFinding judges the entry of one client; ok is false when there is none.
func entryFinding(t clients.Target, file, program, endpoint string) (entry Finding, ok bool) {
	install := "aion mcp install --target " + t.Name
	text, _, err := clients.Read(file)
	if err != nil {
		return Warn(t.Name+": "+Fail(err, "").Detail, ""), true
	}
	state, err := t.State(text, "aion", clients.Entry{})
	switch {
	case err != nil:
		return Warn(fmt.Sprintf("%s: %s cannot be read: %s", t.Name, file, Fail(err, "").Detail), ""), true
	case state == clients.Absent:
		return Finding{}, false
	case strings.Contains(string(text), program), endpoint != "" && strings.Contains(string(text), endpoint):
		return OK(t.Name + " is connected in " + file), true
	}
	return Warn(fmt.Sprintf("%s: the entry in %s starts another program than %s", t.Name, file, program), install), true
}

// executor tells how commands are contained there.
func (v *visit) executor(context.Context) []Finding {
	o, err := parseObject(v.probe.Body)
	if err != nil {
		return []Finding{Fail(err, "")}
	}
	var parts []string
	stuck := false
	for _, check := range o.list("checks") {
		name, actions := strings.CutPrefix(check.text("name"), "actions.")
		if !actions {
			continue
		}
		parts = append(parts, name+" "+check.text("detail"))
		stuck = stuck || strings.HasPrefix(check.text("detail"), "containment_failed")
	}
	switch {
	case len(parts) == 0:
		return []Finding{Warn("the server does not tell how it contains commands", "")}
	case stuck:
		return []Finding{Fail(errors.New(strings.Join(parts, "; ")), "")}
	}
	return []Finding{OK(strings.Join(parts, "; "))}
}

func (v *visit) audit(ctx context.Context) []Finding {
	answer, err := v.Do(ctx, client.Request{Path: "/audit/verify", Patience: defaultPatience})
	if domain.CodeOf(err) == domain.CodeDeployDenied || domain.CodeOf(err) == domain.CodeUnauthenticated {
		return []Finding{Warn("not looked at: it takes the deploy grant", "aion doctor --deploy")}
	}
	if err != nil {
		return []Finding{Fail(err, "aion audit verify")}
	}
	o, err := parseObject(answer.Body)
	if err != nil {
		return []Finding{Fail(err, "")}
	}
	if bad := o.object("first_bad"); !o.flag("ok") {
		return []Finding{Fail(fmt.Errorf("record %s of chain %s does not hold", bad.text("n"), bad.text("chain")), "aion audit verify")}
	}
	return []Finding{OK(fmt.Sprintf("%s records in %s chains hold", o.text("records"), o.text("chains")))}
}

func (v *visit) replicas(context.Context) []Finding {
	if v.info == nil {
		return []Finding{Warn("not looked at: "+Fail(v.denied, "").Detail, "")}
	}
	var list []Finding
	members := v.info.list("replicas")
	for _, r := range members {
		if r.text("version") != v.info.text("version") {
			list = append(list, Warn(fmt.Sprintf("%s is version %s, the server that answers %s", cmp.Or(r.text("address"), r.text("instance_id")), r.text("version"), v.info.text("version")), ""))
		}
		if lag := r.number("lag_events"); lag > 0 {
			list = append(list, Warn(fmt.Sprintf("%s is %d events behind", cmp.Or(r.text("address"), r.text("instance_id")), lag), ""))
		}
	}
	if len(list) > 0 {
		return list
	}
	return []Finding{OK(counted(len(members), "server") + " of one version")}
}
