#!/usr/bin/env bash
# Runs the official TypeScript client against the built binary and the fixture of the transport, on free loopback ports.
# Needs npx and the network: Node 22 comes from npm, the packages are those of package-lock.json.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
pids=()
stop() {
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap stop EXIT

cd "$here/../../.."
go build -o "$work/aion" ./cmd/aion
go build -o "$work/fixture" ./test/mcp/fixture/serve
cp "$here"/package.json "$here"/package-lock.json "$here"/suite.mjs "$work/"
(cd "$work" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error)

export AION_HOME=$work/home
AION_SERVER_LISTEN=127.0.0.1:0 "$work/aion" server >"$work/aion.log" 2>&1 &
pids+=($!)
fixture_port=${AION_TYPESCRIPT_PORT:-18081}
"$work/fixture" -listen "127.0.0.1:$fixture_port" >"$work/fixture.log" 2>&1 &
pids+=($!)

# The server says where it listens in its log; both are ready when they answer.
url=
for _ in $(seq 300); do
	url=$(sed -n 's/.*"mcp":"\([^"]*\)".*/\1/p' "$work/aion.log" | head -n 1)
	if [ -n "$url" ] && curl -fsS -o /dev/null "${url%/mcp}/health/ready" 2>/dev/null &&
		curl -fsS -o /dev/null "http://127.0.0.1:$fixture_port/health/ready" 2>/dev/null; then
		break
	fi
	url=
	sleep 0.1
done
if [ -z "$url" ]; then
	cat "$work/aion.log" "$work/fixture.log" >&2
	echo "typescript: the servers did not become ready" >&2
	exit 1
fi

npx --yes --loglevel=error --package node@22 -- node "$work/suite.mjs" "$url" "http://127.0.0.1:$fixture_port/mcp" "$work/aion" domain/awl/testdata/valid/hello.awl
