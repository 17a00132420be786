# One command per need. `make test` is everything that must hold; it installs what it needs.

GOLANGCI_VERSION := v2.12.2

.PHONY: build test lint unit fuzz bench soak soak-actions fmt

# What the binary says it was built from; nothing outside a clone.
COMMIT := $(shell git describe --always --dirty --exclude '*' 2>/dev/null)
COMMIT_DATE := $(shell git log -1 --format=%cI 2>/dev/null)

build: ## the binary, in ./aion
	go build -trimpath -ldflags "-X aion/bootstrap.commit=$(COMMIT) -X aion/bootstrap.builtAt=$(COMMIT_DATE)" -o aion ./cmd/aion

test: ## format, vet, lint, module tidiness, unit and end-to-end tests with the race detector, conformance, short fuzz runs
	bash test/run.sh

lint:
	bash test/lint.sh

unit:
	go run ./test/postgres/with go test -race -shuffle=on -count=1 ./...

fuzz: ## every fuzz target for FUZZTIME (60s) each
	bash test/fuzz.sh

bench: ## ratios against this machine's own limits, printed
	go run ./test/bench

soak: ## a million random documents, a hundred thousand faults in green ones, long random crash runs
	AION_SOAK=1 go test -count=1 -timeout 0 -run TestRandomDocuments -v ./test/language
	AION_SOAK=1 go test -count=1 -timeout 60m -run TestEverySingleFault -v ./domain/awl
	AION_SOAK=1 go test -count=1 -timeout 120m -run TestRandomKills -v ./test/e2e

soak-actions: ## 10,000 random hostile command trees with kills of command, supervisor and server, and a minute of 10 MB/s
	AION_SOAK=$${AION_SOAK:-10000} go test -count=1 -timeout 180m -run 'NoTree|FastCommand' -v ./adapters/shell

fmt:
	gofmt -w $$(git ls-files '*.go')
