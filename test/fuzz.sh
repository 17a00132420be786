#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME (60s) each.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-60s}
for file in $(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz' | sort); do
	dir=./$(dirname "$file")
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "-- $dir $target ($time)"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1x "$dir"
	done
done
