#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME (60s) each.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-60s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fuzz() { # fuzz DIR TARGET
	go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 1x "$1" 2>&1 | tee "$log"
}

# Before Go 1.27 the go command may call its own end of the time a failure (go.dev/issue/75804): "context deadline exceeded",
# and no input. Such a run has told nothing, and is run again as a whole. A failing input, a panic or a hang never passes this
# way.
untold() {
	grep -q '^    context deadline exceeded$' "$log" && ! grep -Eq 'Failing input|panic|hung|terminated unexpectedly' "$log"
}

for file in $(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz' | sort); do
	dir=./$(dirname "$file")
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "-- $dir $target ($time)"
		fuzz "$dir" "$target" && continue
		untold || exit 1
		echo "-- once more"
		fuzz "$dir" "$target"
	done
done
