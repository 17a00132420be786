package bootstrap

import (
	"time"

	"aion/adapters/shell"
)

// Config is the validated configuration of one process. Where its values come from is the business of load.
type Config struct {
	Home string // AION_HOME, absolute and private

	ServerListen       string
	ServerPublicURL    string
	ServerAllowedHosts []string
	ServerCORSOrigins  []string

	TLSCertFile   string
	TLSKeyFile    string
	TLSMinVersion string

	AuthMode           string
	AuthAllowInsecure  bool
	AuthToken          Secret // also when it came from AuthTokenFile
	AuthTokenFile      string
	AuthIssuer         string
	AuthJWKSURL        string
	AuthAudience       string // empty: ServerPublicURL/mcp
	AuthJWKSRefresh    time.Duration
	AuthJWKSMaxAge     time.Duration
	AuthJWKSCAFile     string
	AuthRequiredScopes []string

	StoreBackend         string
	StorePath            string
	StoreDSN             Secret // also when it came from StoreDSNFile
	StoreDSNFile         string
	StoreMaxConnections  int
	StoreSimpleProtocol  bool
	StoreReaders         int
	StoreMigrate         string
	StoreUnsafeNoFsync   bool
	StoreUnsafeNetworkFS bool

	EngineWorkers      int
	EngineCacheRuns    int
	EngineQueryTimeout time.Duration
	EnginePollInterval time.Duration
	EngineLostAttempts int
	EngineHistoryLimit int

	LimitPayloadBytes         int64
	LimitMaxInFlight          int
	LimitPendingSignals       int
	LimitIdempotencyRetention time.Duration

	RetentionClosed time.Duration // 0: for ever
	AuditRetention  time.Duration // 0: for ever

	NamespaceDefault     string
	NamespaceMode        string
	NamespaceAutoCreate  string
	NamespaceMaxInFlight int

	WorkspaceDir string

	ActionsDeclaredBodies  string
	ActionsWorkspaceRoot   string
	ActionsAllowedPrograms []string
	ActionsProgramDirs     []string
	ActionsKillGrace       time.Duration
	ActionsKillWait        time.Duration
	ActionsClaimTTL        time.Duration
	ActionsMaxStdout       int64
	ActionsMaxStderr       int64
	ActionsIdleSupervisors int
	ActionsOpenFiles       int
	ActionsProcesses       int64
	ActionsMemoryBytes     int64
	ActionsCPUSeconds      int64
	ActionsContainment     string
	ActionsRunAs           string
	ActionsEnv             []shell.Grant

	WorkersHeartbeatInterval time.Duration
	WorkersLeaseTTL          time.Duration
	WorkersMaxLease          time.Duration
	WorkersRequireContracts  bool
	WorkersAllowedSubjects   []string

	TranscriptMaxBatch     int
	TranscriptMaxHold      time.Duration
	TranscriptQueueEvents  int
	TranscriptQueueBytes   int64
	TranscriptStall        time.Duration
	TranscriptFlushTimeout time.Duration
	TranscriptMaxEvents    int
	TranscriptMaxBytes     int64

	MCPEnabled        bool
	MCPAllowedOrigins []string
	MCPMaxBodyBytes   int64
	MCPMaxResultBytes int64
	MCPDiscoverTTLMS  int
	MCPToolsListTTLMS int
	MCPCallTimeout    time.Duration
	MCPRatePerSecond  int
	MCPRateBurst      int

	MCPTaskTTLMS          int
	MCPTaskPollIntervalMS int
	MCPMaxWorkingTasks    int

	APIMaxBodyBytes         int64
	APIRequestTimeout       time.Duration
	APIRatePerSecond        int
	APIRateBurst            int
	APISSEHeartbeat         time.Duration
	APIMaxStreams           int
	APIMaxStreamsPerSubject int

	BackupDir  string
	BackupKeep int

	LogLevel      string
	LogFormat     string
	DrainTimeout  time.Duration
	DrainAnnounce time.Duration

	File    string            // the configuration file that was read; empty: none
	Origins map[string]string // key → default, file NAME:LINE, env NAME, flag
	Ignored []string          // warnings about AION_* variables that are no key
	Exposed []string          // warnings about secret files that others can read
}

// The backends of the store.
const (
	backendSQLite   = "sqlite"
	backendPostgres = "postgres"
	backendMemory   = "memory"
)

// Kinds of values.
const (
	kindText     = "text"
	kindPath     = "path"
	kindBool     = "bool"
	kindInt      = "int"
	kindSize     = "size"
	kindDuration = "duration"
	kindList     = "list"
	kindGrants   = "list of objects"
	kindSecret   = "secret" // has no flag, is never shown, and may come from the file that its _file twin names
)

// key is one configuration key: the one table that gives flags, environment names, defaults, checks and the commented
// file.
type key struct {
	name    string
	alias   string // short flag name of `aion server`; empty: none
	reload  bool   // a running server takes a new value over (App.Reload)
	kind    string
	def     string // as a file would spell it; `<home>` stands for AION_HOME
	doc     string
	choices []string
	min     int64 // of ints, sizes and durations (in nanoseconds); ignored where zero is legal and min is 0
	max     int64 // 0: none
	field   func(*Config) any
}

// keys lists every configuration key in the order of configs/aion.yaml.
func keys() []key { //nolint:funlen // one line per key
	return []key{
		{name: "server.listen", alias: "listen", kind: kindText, def: "127.0.0.1:8080", doc: "host:port of the one listener; port 0 takes a free one and prints it", field: func(c *Config) any { return &c.ServerListen }},
		{name: "server.public_url", kind: kindText, doc: "how clients reach the server, scheme://host[:port]; mode jwks needs it", field: func(c *Config) any { return &c.ServerPublicURL }},
		{name: "server.allowed_hosts", reload: true, kind: kindList, doc: "further Host names that requests may carry, besides IP literals and localhost", field: func(c *Config) any { return &c.ServerAllowedHosts }},
		{name: "server.cors_allowed_origins", reload: true, kind: kindList, doc: "browser origins that may call /api/v1, scheme://host[:port]", field: func(c *Config) any { return &c.ServerCORSOrigins }},
		{name: "tls.cert_file", reload: true, kind: kindPath, doc: "the certificate chain in PEM that the server serves TLS with; empty: plain HTTP. Read again at SIGHUP", field: func(c *Config) any { return &c.TLSCertFile }},
		{name: "tls.key_file", reload: true, kind: kindPath, doc: "the private key of tls.cert_file in PEM", field: func(c *Config) any { return &c.TLSKeyFile }},
		{name: "tls.min_version", kind: kindText, def: "1.2", doc: "the oldest TLS version that is spoken", choices: []string{"1.2", "1.3"}, field: func(c *Config) any { return &c.TLSMinVersion }},
		{name: "auth.mode", kind: kindText, def: "off", doc: "who a caller is: off (every request is the operator), token (one shared secret) or jwks (signed tokens)", choices: []string{"off", "token", "jwks"}, field: func(c *Config) any { return &c.AuthMode }},
		{name: "auth.allow_insecure", kind: kindBool, def: "false", doc: "allow auth.mode off on an address that other machines reach", field: func(c *Config) any { return &c.AuthAllowInsecure }},
		{name: "auth.token", reload: true, kind: kindSecret, doc: "the shared secret of mode token, at least 16 characters", field: func(c *Config) any { return &c.AuthToken }},
		{name: "auth.token_file", reload: true, kind: kindPath, doc: "a private file that holds auth.token instead", field: func(c *Config) any { return &c.AuthTokenFile }},
		{name: "auth.issuer", reload: true, kind: kindText, doc: "who signs the tokens of mode jwks: their iss, byte for byte", field: func(c *Config) any { return &c.AuthIssuer }},
		{name: "auth.jwks_url", reload: true, kind: kindText, doc: "where the issuer publishes its keys", field: func(c *Config) any { return &c.AuthJWKSURL }},
		{name: "auth.audience", reload: true, kind: kindText, doc: "what aud of a token must contain; empty: <public_url>/mcp", field: func(c *Config) any { return &c.AuthAudience }},
		{name: "auth.jwks_refresh", reload: true, kind: kindDuration, def: "5m", min: int64(30 * time.Second), doc: "how often the keys are fetched; a key that the issuer removed is refused after at most this time", field: func(c *Config) any { return &c.AuthJWKSRefresh }},
		{name: "auth.jwks_max_age", reload: true, kind: kindDuration, def: "24h", min: int64(30 * time.Second), doc: "how long the last keys serve while they cannot be fetched", field: func(c *Config) any { return &c.AuthJWKSMaxAge }},
		{name: "auth.jwks_ca_file", reload: true, kind: kindPath, doc: "PEM certificates that are trusted for auth.jwks_url besides the system's", field: func(c *Config) any { return &c.AuthJWKSCAFile }},
		{name: "auth.required_scopes", reload: true, kind: kindList, doc: "scopes that every token of mode jwks needs", field: func(c *Config) any { return &c.AuthRequiredScopes }},
		{name: "store.backend", kind: kindText, def: "sqlite", doc: "sqlite, postgres (several servers may share it), or memory (forgets everything at exit)", choices: []string{backendSQLite, backendPostgres, backendMemory}, field: func(c *Config) any { return &c.StoreBackend }},
		{name: "store.path", alias: "store", kind: kindPath, def: "<home>/aion.db", doc: "the SQLite file; its directory must be private", field: func(c *Config) any { return &c.StorePath }},
		{name: "store.dsn", kind: kindSecret, doc: "where Postgres is, with what opens it: a postgres:// URL, or key=value words", field: func(c *Config) any { return &c.StoreDSN }},
		{name: "store.dsn_file", kind: kindPath, doc: "a private file that holds store.dsn instead", field: func(c *Config) any { return &c.StoreDSNFile }},
		{name: "store.postgres.max_connections", kind: kindInt, def: "20", min: 2, max: 1000, doc: "connections of this server to Postgres", field: func(c *Config) any { return &c.StoreMaxConnections }},
		{name: "store.postgres.simple_protocol", kind: kindBool, def: "false", doc: "no prepared statements and no LISTEN: for a pooler in transaction mode", field: func(c *Config) any { return &c.StoreSimpleProtocol }},
		{name: "store.sqlite.readers", kind: kindInt, def: "4", min: 1, max: 64, doc: "reading connections", field: func(c *Config) any { return &c.StoreReaders }},
		{name: "store.migrate", kind: kindText, def: "auto", doc: "auto: a start brings the schema of the store up to date; check: it is refused until aion store migrate has", choices: []string{"auto", "check"}, field: func(c *Config) any { return &c.StoreMigrate }},
		{name: "store.unsafe_no_fsync", kind: kindBool, def: "false", doc: "do not wait for the disk: a power cut may lose acknowledged work", field: func(c *Config) any { return &c.StoreUnsafeNoFsync }},
		{name: "store.unsafe_network_fs", kind: kindBool, def: "false", doc: "accept a store on a network file system, whose locks and fsync cannot be relied on", field: func(c *Config) any { return &c.StoreUnsafeNetworkFS }},
		{name: "engine.workers", kind: kindInt, def: "0", doc: "goroutines that advance runs; 0: two per processor", field: func(c *Config) any { return &c.EngineWorkers }},
		{name: "engine.cache_runs", kind: kindInt, def: "10000", min: 1, doc: "run states kept in memory; others are folded again on demand", field: func(c *Config) any { return &c.EngineCacheRuns }},
		{name: "engine.query_timeout", kind: kindDuration, def: "10s", min: 1, max: int64(30 * time.Second), doc: "bound of one query", field: func(c *Config) any { return &c.EngineQueryTimeout }},
		{name: "engine.poll_interval", kind: kindDuration, def: "1s", min: 1, max: int64(30 * time.Second), doc: "the longest that a lost wake-up can cost", field: func(c *Config) any { return &c.EnginePollInterval }},
		{name: "engine.lost_attempts", kind: kindInt, def: "5", min: 1, doc: "lost attempts in a row before an activity fails", field: func(c *Config) any { return &c.EngineLostAttempts }},
		{name: "engine.history_limit", kind: kindInt, def: "10000", min: 20, doc: "events of one run before it goes on as a new generation", field: func(c *Config) any { return &c.EngineHistoryLimit }},
		{name: "limits.payload_bytes", kind: kindSize, def: "2MiB", min: 1 << 10, doc: "one JSON value: input, result, signal payload", field: func(c *Config) any { return &c.LimitPayloadBytes }},
		{name: "limits.max_in_flight_activities", reload: true, kind: kindInt, def: "256", min: 1, doc: "attempts that run at the same time on this server", field: func(c *Config) any { return &c.LimitMaxInFlight }},
		{name: "limits.pending_signals", kind: kindInt, def: "100000", min: 1, doc: "signals that one run may hold unconsumed", field: func(c *Config) any { return &c.LimitPendingSignals }},
		{name: "limits.idempotency_retention", kind: kindDuration, def: "24h", min: int64(time.Minute), doc: "how long an idempotency key is remembered", field: func(c *Config) any { return &c.LimitIdempotencyRetention }},
		{name: "retention.closed", reload: true, kind: kindDuration, def: "720h", doc: "how long closed workflows are kept, with their histories and transcripts; 0: for ever", field: func(c *Config) any { return &c.RetentionClosed }},
		{name: "audit.retention", reload: true, kind: kindDuration, def: "0", doc: "how long the audit records of servers that have ended are kept; 0: for ever", field: func(c *Config) any { return &c.AuditRetention }},
		{name: "namespaces.default", kind: kindText, def: "default", doc: "the namespace of commands that name none", field: func(c *Config) any { return &c.NamespaceDefault }},
		{name: "namespaces.mode", kind: kindText, def: "shared", doc: "shared, or single: everyone has exactly namespaces.default", choices: []string{"shared", "single"}, field: func(c *Config) any { return &c.NamespaceMode }},
		{name: "namespaces.auto_create", kind: kindText, def: "open", doc: "open: the first start in a namespace creates it; closed: it must exist", choices: []string{"open", "closed"}, field: func(c *Config) any { return &c.NamespaceAutoCreate }},
		{name: "namespaces.max_in_flight_activities", reload: true, kind: kindInt, def: "1024", min: 1, doc: "attempts of one namespace that run at the same time, when it has no bound of its own", field: func(c *Config) any { return &c.NamespaceMaxInFlight }},
		{name: "authoring.workspace_dir", kind: kindPath, def: "<home>/authoring", doc: "where saved documents live; empty: documents are not configured", field: func(c *Config) any { return &c.WorkspaceDir }},
		{name: "actions.declared_bodies", kind: kindText, def: "on", doc: "on: this server runs the commands that documents declare; off: it refuses to; delegate: it leaves them to the workers of their queues", choices: []string{"on", "off", "delegate"}, field: func(c *Config) any { return &c.ActionsDeclaredBodies }},
		{name: "actions.workspace_root", kind: kindText, def: "<home>/clones", doc: "what {workspace_root} stands for in command text", field: func(c *Config) any { return &c.ActionsWorkspaceRoot }},
		{name: "actions.allowed_programs", kind: kindList, doc: "programs that bodies may start, by name or absolute path; empty: any", field: func(c *Config) any { return &c.ActionsAllowedPrograms }},
		{name: "actions.program_dirs", kind: kindList, doc: "directories in which allowed names must resolve; empty: PATH", field: func(c *Config) any { return &c.ActionsProgramDirs }},
		{name: "actions.kill_grace", kind: kindDuration, def: "2s", min: 1, doc: "time between TERM and KILL", field: func(c *Config) any { return &c.ActionsKillGrace }},
		{name: "actions.kill_wait", kind: kindDuration, def: "5s", min: 1, doc: "time after the first KILL until a survivor is an error", field: func(c *Config) any { return &c.ActionsKillWait }},
		{name: "actions.claim_ttl", kind: kindDuration, def: "60s", min: 1, doc: "how long this server's claim on a running command holds when it cannot be renewed; at least kill_grace + kill_wait + 20s", field: func(c *Config) any { return &c.ActionsClaimTTL }},
		{name: "actions.max_stdout_bytes", kind: kindSize, def: "1MiB", min: 1, max: 16 << 20, doc: "standard output kept of one attempt", field: func(c *Config) any { return &c.ActionsMaxStdout }},
		{name: "actions.max_stderr_bytes", kind: kindSize, def: "256KiB", min: 1, max: 16 << 20, doc: "standard error kept of one attempt", field: func(c *Config) any { return &c.ActionsMaxStderr }},
		{name: "actions.idle_supervisors", kind: kindInt, def: "2", min: 1, doc: "command supervisors kept ready", field: func(c *Config) any { return &c.ActionsIdleSupervisors }},
		{name: "actions.containment", kind: kindText, def: "auto", doc: "auto: supervisors, and cgroups where they are delegated; supervisor: no cgroups; group: process groups, which processes can leave", choices: []string{"auto", "supervisor", "group"}, field: func(c *Config) any { return &c.ActionsContainment }},
		{name: "actions.run_as", kind: kindText, doc: "user[:group] that commands run as; empty: the server's own", field: func(c *Config) any { return &c.ActionsRunAs }},
		{name: "actions.env", kind: kindGrants, doc: "variables that commands of some queues get: {name, from_file or from_env, queues, secret}", field: func(c *Config) any { return &c.ActionsEnv }},
		{name: "actions.limits.open_files", kind: kindInt, def: "4096", min: 64, doc: "open files of one command", field: func(c *Config) any { return &c.ActionsOpenFiles }},
		{name: "actions.limits.processes", kind: kindInt, def: "0", doc: "processes of one command, or of its user where there is no delegated cgroup; 0: no limit", field: func(c *Config) any { return &c.ActionsProcesses }},
		{name: "actions.limits.memory_bytes", kind: kindSize, def: "0", doc: "memory of one command, or of each of its processes where there is no delegated cgroup; 0: no limit", field: func(c *Config) any { return &c.ActionsMemoryBytes }},
		{name: "actions.limits.cpu_seconds", kind: kindInt, def: "0", doc: "processor time of each process of a command; 0: no limit", field: func(c *Config) any { return &c.ActionsCPUSeconds }},
		{name: "workers.heartbeat_interval", kind: kindDuration, def: "10s", min: int64(time.Second), max: int64(10 * time.Minute), doc: "how often a remote worker is to call; one that misses three calls is gone", field: func(c *Config) any { return &c.WorkersHeartbeatInterval }},
		{name: "workers.lease_ttl", kind: kindDuration, def: "30s", min: int64(time.Second), max: int64(time.Hour), doc: "how long a remote worker holds a task without a call; at least twice workers.heartbeat_interval", field: func(c *Config) any { return &c.WorkersLeaseTTL }},
		{name: "workers.max_lease", kind: kindDuration, def: "1h", min: int64(time.Second), max: int64(7 * 24 * time.Hour), doc: "the longest lease that a worker may ask for at once", field: func(c *Config) any { return &c.WorkersMaxLease }},
		{name: "workers.require_contracts", kind: kindBool, def: "false", doc: "refuse workers that register an action without its schemas", field: func(c *Config) any { return &c.WorkersRequireContracts }},
		{name: "workers.allowed_subjects", reload: true, kind: kindList, doc: "subjects that may serve tasks; empty: whoever has the namespaces", field: func(c *Config) any { return &c.WorkersAllowedSubjects }},
		{name: "transcript.max_batch_events", kind: kindInt, def: "256", min: 1, doc: "lines stored in one commit", field: func(c *Config) any { return &c.TranscriptMaxBatch }},
		{name: "transcript.max_hold", kind: kindDuration, def: "50ms", doc: "wait to fill a batch; 0: none", field: func(c *Config) any { return &c.TranscriptMaxHold }},
		{name: "transcript.queue_events", kind: kindInt, def: "8192", min: 1, doc: "lines held in memory per attempt", field: func(c *Config) any { return &c.TranscriptQueueEvents }},
		{name: "transcript.queue_bytes", kind: kindSize, def: "8MiB", min: 1 << 16, doc: "bytes held in memory per attempt", field: func(c *Config) any { return &c.TranscriptQueueBytes }},
		{name: "transcript.stall", kind: kindDuration, def: "5s", min: 1, doc: "a store that moves nothing for this long loses lines, counted, instead of slowing commands", field: func(c *Config) any { return &c.TranscriptStall }},
		{name: "transcript.flush_timeout", kind: kindDuration, def: "10s", min: 1, doc: "wait for the rest of a transcript at the end of an attempt", field: func(c *Config) any { return &c.TranscriptFlushTimeout }},
		{name: "transcript.max_events_per_attempt", kind: kindInt, def: "200000", min: 1, doc: "lines stored of one attempt", field: func(c *Config) any { return &c.TranscriptMaxEvents }},
		{name: "transcript.max_bytes_per_attempt", kind: kindSize, def: "64MiB", min: 1 << 16, doc: "bytes stored of one attempt", field: func(c *Config) any { return &c.TranscriptMaxBytes }},
		{name: "mcp.enabled", kind: kindBool, def: "true", doc: "serve /mcp", field: func(c *Config) any { return &c.MCPEnabled }},
		{name: "mcp.allowed_origins", reload: true, kind: kindList, doc: "browser origins that may call /mcp, scheme://host[:port]", field: func(c *Config) any { return &c.MCPAllowedOrigins }},
		{name: "mcp.max_body_bytes", kind: kindSize, def: "4MiB", min: 1, doc: "one request", field: func(c *Config) any { return &c.MCPMaxBodyBytes }},
		{name: "mcp.max_result_bytes", kind: kindSize, def: "256KiB", min: 1, doc: "one structured result", field: func(c *Config) any { return &c.MCPMaxResultBytes }},
		{name: "mcp.discover_ttl_ms", kind: kindInt, def: "3600000", min: 1, doc: "how long clients may keep server/discover, in milliseconds", field: func(c *Config) any { return &c.MCPDiscoverTTLMS }},
		{name: "mcp.tools_list_ttl_ms", kind: kindInt, def: "300000", min: 1, doc: "how long clients may keep tools/list, in milliseconds", field: func(c *Config) any { return &c.MCPToolsListTTLMS }},
		{name: "mcp.task_ttl_ms", kind: kindInt, def: "86400000", min: 1, doc: "how long a task can be read after its end, in milliseconds", field: func(c *Config) any { return &c.MCPTaskTTLMS }},
		{name: "mcp.task_poll_interval_ms", kind: kindInt, def: "1000", min: 1, doc: "how often clients are told to ask for a task, in milliseconds", field: func(c *Config) any { return &c.MCPTaskPollIntervalMS }},
		{name: "mcp.max_working_tasks", kind: kindInt, def: "1000", min: 1, doc: "working tasks of one caller", field: func(c *Config) any { return &c.MCPMaxWorkingTasks }},
		{name: "mcp.call_timeout", kind: kindDuration, def: "30s", min: 1, max: int64(10 * time.Minute), doc: "bound of one tool call", field: func(c *Config) any { return &c.MCPCallTimeout }},
		{name: "mcp.rate_per_second", reload: true, kind: kindInt, def: "1000", doc: "tool calls per second and caller, not in auth.mode off; 0: no limit", field: func(c *Config) any { return &c.MCPRatePerSecond }},
		{name: "mcp.rate_burst", reload: true, kind: kindInt, def: "2000", min: 1, doc: "tool calls that a caller may make at once", field: func(c *Config) any { return &c.MCPRateBurst }},
		{name: "api.max_body_bytes", kind: kindSize, def: "4MiB", min: 64 << 10, doc: "one request", field: func(c *Config) any { return &c.APIMaxBodyBytes }},
		{name: "api.request_timeout", kind: kindDuration, def: "30s", min: int64(time.Second), max: int64(10 * time.Minute), doc: "bound of one request that is no stream", field: func(c *Config) any { return &c.APIRequestTimeout }},
		{name: "api.rate_per_second", reload: true, kind: kindInt, def: "1000", doc: "requests per second and caller, not in auth.mode off; 0: no limit", field: func(c *Config) any { return &c.APIRatePerSecond }},
		{name: "api.rate_burst", reload: true, kind: kindInt, def: "2000", min: 1, doc: "requests that a caller may make at once", field: func(c *Config) any { return &c.APIRateBurst }},
		{name: "api.sse_heartbeat", kind: kindDuration, def: "15s", min: int64(time.Second), max: int64(5 * time.Minute), doc: "how long a stream is silent before a comment keeps it open", field: func(c *Config) any { return &c.APISSEHeartbeat }},
		{name: "api.max_streams", kind: kindInt, def: "2000", min: 1, doc: "streams that are open at the same time", field: func(c *Config) any { return &c.APIMaxStreams }},
		{name: "api.max_streams_per_subject", kind: kindInt, def: "64", min: 1, doc: "streams of one caller that are open at the same time", field: func(c *Config) any { return &c.APIMaxStreamsPerSubject }},
		{name: "log.level", alias: "log-level", reload: true, kind: kindText, def: "info", doc: "debug, info, warn or error", choices: []string{"debug", "info", "warn", "error"}, field: func(c *Config) any { return &c.LogLevel }},
		{name: "log.format", kind: kindText, def: "auto", doc: "text, json, or auto: text on a terminal", choices: []string{"auto", "text", "json"}, field: func(c *Config) any { return &c.LogFormat }},
		{name: "drain.timeout", kind: kindDuration, def: "30s", max: int64(10 * time.Minute), doc: "how long running commands go on after TERM before they are stopped and parked; 0: they are stopped at once", field: func(c *Config) any { return &c.DrainTimeout }},
		{name: "drain.announce", kind: kindDuration, def: "0s", max: int64(10 * time.Minute), doc: "how long a server that is told to stop is unready and still serves everything, before it drains: for load balancers", field: func(c *Config) any { return &c.DrainAnnounce }},
		{name: "backup.dir", kind: kindPath, def: "<home>/backups", doc: "where backups without a name of their own go", field: func(c *Config) any { return &c.BackupDir }},
		{name: "backup.keep", kind: kindInt, def: "7", min: 1, doc: "backups that stay there; the oldest beyond it are removed", field: func(c *Config) any { return &c.BackupKeep }},
	}
}
