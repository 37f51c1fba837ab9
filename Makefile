# Everything that is needed besides Go and git is built from pinned modules.
TOOLS := testdata/tools/go.mod
TOOL  := go tool -modfile=$(TOOLS)
LINT  := go tool -modfile=testdata/tools/lint/go.mod

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 60s
EXAMPLE  ?= vllm

.PHONY: build test lint generate verify bench fuzz schemas cluster-tools sandbox soak clean

build: ## build bin/mdc
	go build -trimpath -ldflags "-X main.release=$(VERSION)" -o bin/mdc ./cmd/mdc

test: cluster-tools ## run all tests
	go test -timeout 30m ./...

lint: ## run golangci-lint
	$(LINT) golangci-lint run ./...

generate: ## regenerate deepcopy functions, CustomResourceDefinitions and schemas of documents
	$(TOOL) controller-gen object paths=./compiler/api/...
	$(TOOL) controller-gen crd paths=./compiler/api/... output:crd:dir=compiler/api/v1/crds
	cd testdata/tools && go run ./documents ../..

verify: generate ## fail when generated files are not up to date
	test -z "$$(git status --porcelain compiler/api)"

bench: ## run the benchmarks; compare runs with: go tool -modfile=testdata/tools/go.mod benchstat
	go test -run '^$$' -bench . -benchmem ./...

fuzz: ## run every fuzz target for FUZZTIME
	go test -run '^$$' -fuzz '^FuzzLoad$$' -fuzztime $(FUZZTIME) ./compiler/source
	go test -run '^$$' -fuzz '^FuzzKustomize$$' -fuzztime $(FUZZTIME) ./compiler/source
	go test -run '^$$' -fuzz '^FuzzCompile$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 5x ./compiler
	go test -run '^$$' -fuzz '^FuzzRead$$' -fuzztime $(FUZZTIME) ./compiler/argv
	go test -run '^$$' -fuzz '^FuzzMask$$' -fuzztime $(FUZZTIME) ./compiler/diag
	go test -run '^$$' -fuzz '^FuzzStringsReadBack$$' -fuzztime $(FUZZTIME) ./compiler/emit
	go test -run '^$$' -fuzz '^FuzzParse$$' -fuzztime $(FUZZTIME) ./cmd/agent/simulate
	go test -run '^$$' -fuzz '^FuzzPlay$$' -fuzztime $(FUZZTIME) ./cmd/agent/simulate

cluster-tools: ## build the programs of a local cluster, for the tests that need one; about ten minutes, once
	go run ./testdata/cluster/build

soak: cluster-tools ## kill the agent fifty times in rollouts and scales, and check its core in full
	MDC_SOAK=50 go test -count=1 -timeout 30m -v -run 'TestKilled|TestWrites' ./cmd/agent/e2e
	MDC_MODEL=full go test -count=1 -timeout 15m -v ./cmd/agent/model

sandbox: cluster-tools ## try mdc on a local cluster: make sandbox EXAMPLE=pair
	go run ./cmd/agent/localcluster/sandbox -example $(EXAMPLE)

schemas: ## cut the schemas that tests validate against out of Kubernetes
	cd testdata/tools && go run ./kubeschemas $$(go mod download -json k8s.io/kubernetes@v1.35.4 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') ../kubernetes/openapi-v1.35.4.json

clean:
	rm -rf bin
