package tools_test

// The documents of these tests.
const (
	greetDoc = `//! Greet.
workflow greet_once
  input name: String
  outcome done: type Done, route success

type Done { text: String }

worker shell
  action greet(name: String) -> String
    run "echo hello {{name}}" capture text

step say
  greet(name: name) -> text
  route done(text: text)
`
	gateDoc = `//! Wait for a go.
workflow gate
  signal go: Go
  outcome done: type Done, route success
  outcome lapsed: type Done, route failure

type Go { ok: Bool }
type Done { text: String }

step hold
  wait go timeout 1h -> answer

  outcome silent: when answer is absent,
    route lapsed(text: "silent")
  outcome yes: when answer.ok,
    route done(text: "yes")
  outcome no: otherwise,
    route lapsed(text: "no")
`
	lateDoc = `//! Wait for a go that never comes.
workflow late
  timeout 50ms
  signal go: Go
  outcome done: type Go, route success

type Go { ok: Bool }

step hold
  wait go -> answer
  route done(ok: answer.ok)
`
	remoteDoc = `//! Ask a worker that is not there.
workflow remote_ask
  input name: String
  outcome done: type Done, route success

type Done { text: String }

worker elsewhere
  action ask(name: String) -> String

step ask_it
  ask(name: name) -> text
  route done(text: text)
`
)
