# Armature. `make help` lists the targets; Go, make and git are all they need.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The folder with Azure's API descriptions; `make specs` fetches the pinned ones.
SPECS ?= ../shared/azure-rest-api-specs
override SPECS := $(abspath $(if $(wildcard $(SPECS)),$(SPECS),.specs))
export SPECS

# The same flags for every build of both modules, so that what they have in
# common is compiled once.
export CGO_ENABLED := 0
export GOFLAGS := -buildvcs=false -trimpath -gcflags=all=-dwarf=false

GOLANGCI := go tool -modfile=tools.mod golangci-lint
PACKAGES := ./...

CONTROLPLANE         := test/controlplane
CONTROLPLANE_SOURCES := $(CONTROLPLANE)/go.mod $(CONTROLPLANE)/go.sum \
  $(filter-out %_test.go,$(wildcard $(CONTROLPLANE)/cmd/kubeplane/*.go))

KUBE_VERSION := v1.37.1
version_of    = -X $(1).gitVersion=$(KUBE_VERSION) -X $(1).gitMajor=1 -X $(1).gitMinor=37 -X $(1).gitTreeState=clean
KUBE_LDFLAGS := -s -w $(call version_of,k8s.io/component-base/version) $(call version_of,k8s.io/client-go/pkg/version)

##@ Use

.PHONY: demo
demo: build controlplane ## Show the whole chain on a real API server and the ARM simulator (build/demo.json)
	go run ./test/e2e/demo

.PHONY: dev
dev: build controlplane ## Leave the demo's set-up running and print its KUBECONFIG
	go run ./test/e2e/demo --dev

##@ Build

.PHONY: build
build: ## Build bin/armature
	@echo "building bin/armature"
	go build -ldflags "-s -w" -o bin/armature ./cmd/armature

.PHONY: controlplane
controlplane: bin/kubeplane ## Build kube-apiserver, etcd and kubectl into bin/ (once)

bin/kubeplane: $(CONTROLPLANE_SOURCES)
	@echo "building kube-apiserver, etcd and kubectl from Go modules: about 5 minutes the first time"
	@go -C $(CONTROLPLANE) build -ldflags "$(KUBE_LDFLAGS)" -o $(CURDIR)/$@ ./cmd/kubeplane
	@for name in etcd kube-apiserver kubectl; do ln -sf kubeplane bin/$$name; done

.PHONY: specs
specs: ## Fetch the pinned API descriptions into .specs/ (sparse git clone)
	go run ./cmd/armature specs fetch

.PHONY: generate
generate: ## Regenerate everything that is generated from SPECS
	go generate ./...

.PHONY: clean
clean: ## Remove bin/ and build/
	rm -rf bin build

##@ Check

.PHONY: test
test: build controlplane ## Run all tests, with a real API server where they need one
	@echo "testing both modules; the first time their builds take a few minutes"
	go test -count=1 $(PACKAGES)
	go -C $(CONTROLPLANE) test -count=1 ./...

.PHONY: test-faults
test-faults: build controlplane ## Test the tests: each planted fault must turn the demo red
	ARMATURE_TEST_FAULTS=1 go test -count=1 -timeout 30m -run Fault ./test/e2e/demo

.PHONY: verify
verify: ## Fail unless what is committed is what the generator writes
	@test/verify.sh

.PHONY: lint
lint: ## Run golangci-lint, import directions included
	@echo "linting; the first build of golangci-lint takes a few minutes"
	$(GOLANGCI) run $(PACKAGES)

.PHONY: fmt
fmt: ## Format the Go code
	$(GOLANGCI) fmt

.PHONY: bench
bench: ## Run the benchmarks
	go test -run '^$$' -bench . $(PACKAGES)

FUZZTIME ?= 30s

.PHONY: fuzz
fuzz: ## Run each fuzz test for FUZZTIME
	@grep -rlE --include='*_test.go' '^func Fuzz' . | while read -r file; do \
	  grep -oE '^func Fuzz[A-Za-z0-9_]+' "$$file" | while read -r _ name; do \
	    echo "fuzzing $$(dirname "$$file") $$name"; \
	    go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null; \
	  done; \
	done

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
