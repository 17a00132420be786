#!/usr/bin/env bash
# Runs the official conformance suite and holds it against the baselines beside this script. Needs npx and the network:
# Node 22 and the suite come from npm.
#
#   conformance.sh       builds and starts aion and the fixture of the transport on a loopback port, and checks both
#   conformance.sh URL   checks the server at URL; its host is localhost, it is in auth mode off and admits its own origin
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
port=${AION_CONFORMANCE_PORT:-18080}
work=$(mktemp -d)
server=
stop() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
		server=
	fi
}
trap 'stop; rm -rf "$work"' EXIT

suite() {
	npx --yes --loglevel=error --package node@22 --package @modelcontextprotocol/conformance@0.2.0-alpha.12 -- \
		conformance server --url "$url" -o "$work/out" "$@" >"$work/log" 2>&1 && return
	cat "$work/log" >&2
	echo "conformance: $* failed against $url" >&2
	return 1
}

# The product: the requirements of the revision, then the scenarios that are not scored but partly apply. These are run
# without a spec version: with one they are skipped and end with status 0.
product() {
	suite --requirements 2026-07-28 --expected-failures "$here/baseline.yml"
	for scenario in http-header-validation tasks-capability-negotiation tasks-dispatch-and-envelope tasks-request-headers; do
		suite --scenario "$scenario" --expected-failures "$here/baseline-extra.yml"
	done
}

# The fixture: cases that no tool of the product has. Nothing may fail.
fixture() {
	for scenario in tools-list tools-call-simple-text tools-call-error tools-call-with-progress http-header-validation; do
		suite --scenario "$scenario" --spec-version 2026-07-28
	done
	for scenario in tasks-lifecycle tasks-wire-fields tasks-request-state-removal tasks-request-headers; do
		suite --scenario "$scenario" # with a spec version these are skipped
	done
}

await() {
	for _ in $(seq 300); do
		if curl -fsS -o /dev/null "http://127.0.0.1:$port/health/ready" 2>/dev/null; then return; fi
		if ! kill -0 "$server" 2>/dev/null; then break; fi
		sleep 0.1
	done
	cat "$work/server.log" >&2
	echo "conformance: the server did not become ready" >&2
	return 1
}

if [ $# -gt 0 ]; then
	url=$1
	product
	exit
fi

cd "$here/../.."
url=http://localhost:$port/mcp
go build -o "$work/aion" ./cmd/aion
go build -o "$work/fixture" ./test/mcp/fixture/serve

AION_HOME=$work/home AION_SERVER_LISTEN=127.0.0.1:$port AION_MCP_ALLOWED_ORIGINS=http://localhost:$port \
	"$work/aion" server >"$work/server.log" 2>&1 &
server=$!
await
product
stop

"$work/fixture" -listen "127.0.0.1:$port" -origin "http://localhost:$port" >"$work/server.log" 2>&1 &
server=$!
await
fixture
stop
echo "conformance: the official suite passed against the product and the fixture"
