#!/usr/bin/env bash
# golangci-lint at one pinned version, built once into the user's cache.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^GOLANGCI_VERSION := //p' Makefile)
bin="$(go env GOCACHE)/aion-tools/$version"
if [ ! -x "$bin/golangci-lint" ]; then
	GOBIN="$bin" GOFLAGS=-mod=mod go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
fi
# The cache belongs to this checkout: a shared one answers with the paths of another.
export GOLANGCI_LINT_CACHE="$PWD/out/lint-cache"
"$bin/golangci-lint" run --allow-parallel-runners ./...
