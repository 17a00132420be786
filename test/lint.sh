#!/usr/bin/env bash
# golangci-lint at one pinned version, built once into the user's cache.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^GOLANGCI_VERSION := //p' Makefile)
bin="$(go env GOCACHE)/aion-tools/$version"
if [ ! -x "$bin/golangci-lint" ]; then
	GOBIN="$bin" GOFLAGS=-mod=mod go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
fi
"$bin/golangci-lint" run --allow-parallel-runners ./...
