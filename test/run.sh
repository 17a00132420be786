#!/usr/bin/env bash
# Everything that must hold before a change lands. Installs what is missing; needs Go, gcc, git, Postgres and node with npm.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

# The race detector and SQLite need a C compiler, the conformance suite needs npm: Debian's packages, when we may.
have() { command -v "$1" >/dev/null 2>&1 || compgen -G "/usr/lib/postgresql/*/bin/$1" >/dev/null; }
need() { # need COMMAND PACKAGE
	have "$1" && return 0
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null
	else
		echo "$1 is missing: install the package $2" >&2
		exit 1
	fi
}
need gcc gcc
need git git
need npx npm
if ! have pg_ctl && [ "$(id -u)" = 0 ] && mkdir /etc/postgresql-common 2>/dev/null; then
	echo 'create_main_cluster = off' >/etc/postgresql-common/createcluster.conf # the package is to run no server of its own
fi
need pg_ctl postgresql

# One Postgres for all that follows; it ends with this run, however that ends.
[ -n "${AION_TEST_POSTGRES:-}" ] || exec go run ./test/postgres/with bash test/run.sh

step "format"
unformatted=$(gofmt -l $(git ls-files '*.go'))
if [ -n "$unformatted" ]; then
	echo "not formatted (make fmt):" >&2
	echo "$unformatted" >&2
	exit 1
fi

step "module files are tidy"
go mod tidy -diff

step "vet"
go vet ./...

step "lint"
bash test/lint.sh

step "tests"
go test -race -shuffle=on -count=1 -timeout 15m ./...

step "the language at length, without the race detector: 10,000 random documents, 10,000 faults, hostile texts"
go test -count=1 -timeout 10m -run 'TestRandomDocuments|TestEverySingleFault|TestHostile' ./test/language ./domain/awl

step "official conformance suite"
bash test/mcp/conformance.sh

step "official TypeScript client"
bash test/mcp/typescript/run.sh

step "fuzz, short"
FUZZTIME=${FUZZTIME:-2s} bash test/fuzz.sh
