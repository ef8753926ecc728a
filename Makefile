# Type `make` for the list of targets. What a target says after ## is its help.
#
# Everything works on relative paths: the clone's own path may hold spaces.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

# Each module stands alone, whatever go.work says.
export GOWORK := off

# Which cluster a stage talks to: lab, or current for the current context of
# your own kubeconfig.
CLUSTER ?= lab
# Flags for a stage's program: make stage-1 ARGS="-o wide". Without them it gets
# those of its lesson/stage.mk, so that each stage shows something by itself.
ARGS ?=
# The package of the stage that is run: make stage-4 PROGRAM=./cmd/podlog
PROGRAM ?=
# How often each test is run.
COUNT ?=
# RACE=1 turns the race detector on. It needs a C compiler, and compiles everything that
# is tested a second time.
RACE ?=
# How many modules are tested at the same time, and how long a test waits for what it
# waits for.
JOBS ?= 2
export JOBS RACE TEST_TIMEOUT

# name is what a module is called in a target: 01-client-list is 1, and
# 05-crd-operator/postgres is 5-postgres. folder is the way back.
number = $(patsubst 0%,%,$(firstword $(subst -, ,$(1))))
top    = $(firstword $(subst /, ,$(1)))
name   = $(subst /,-,$(if $(filter $(top),$(FOLDERS)),$(patsubst $(top)%,$(number)%,$(1)),$(1)))
folder = $(strip $(foreach module,$(MODULES),$(if $(filter $(1),$(call name,$(module))),$(module))))

# A module is a folder with a go.mod, at any depth; a stage is one with a number. Adding
# one needs no line here.
MODULES := $(shell sh tools/scripts/modules.sh)
TESTED  := $(shell sh tools/scripts/modules.sh --tests)
FOLDERS := $(patsubst %/go.mod,%,$(wildcard [0-9][0-9]-*/go.mod))
NUMBERS := $(foreach stage,$(FOLDERS),$(call number,$(stage)))

STAGES  := $(addprefix stage-,$(NUMBERS))
TESTS   := $(addprefix test-,$(foreach module,$(TESTED),$(call name,$(module))))
BENCHES := $(addprefix bench-,$(foreach stage,$(FOLDERS),$(if $(shell grep -ls '^func Benchmark' -r $(stage)),$(call number,$(stage)))))

LAB_SOURCES := $(shell find lab -type f ! -path 'lab/bin/*' ! -path 'lab/bench/*' ! -path 'lab/image/*' ! -path 'lab/scheduler/*' ! -path 'lab/e2e/*' ! -name '*_test.go' ! -name '*.md')
LAB := lab/bin/lab

##@ Run

.PHONY: $(STAGES)
$(STAGES): stage-%: cluster-$(CLUSTER) | go ## Run a stage's program (ARGS="-o wide"; CLUSTER=current for your own cluster)
	@echo '==> building $(call folder,$*)'
	@go -C '$(call folder,$*)$(if $(PROGRAM),,$(MODULE_$*))' build -o '$(CURDIR)/bin/stage-$*' $(or $(PROGRAM),$(PROGRAM_$*),.)
	@if [ '$(CLUSTER)' = lab ]; then \
	  eval "$$($(LAB) env)"; \
	  for demo in $(wildcard $(call folder,$*)/lesson/demo.yaml); do kubectl apply -f "$$demo" || exit 1; done; \
	  for demo in $(wildcard $(call folder,$*)/lesson/demo.sh); do set -- sh "$$demo"; done; \
	fi; exec "$$@" bin/stage-$* $(or $(ARGS),$(ARGS_$*))

.PHONY: cluster-lab cluster-current
cluster-lab: lab-up
cluster-current:

##@ Learn

WORKSHOP := bin/workshop

.PHONY: workshop
workshop: | go
	@mkdir -p bin && go -C tools build -buildvcs=false -o ../$(WORKSHOP) ./workshop

# Only some exercises need the lab, and they build it. One that is built already is kept current.
BUILT_LAB = $(if $(wildcard $(LAB)),$(LAB))

.PHONY: learn
learn: workshop $(BUILT_LAB) ## Work through the exercises, with a check at each save
	@$(WORKSHOP) learn

.PHONY: exercise
exercise: workshop $(BUILT_LAB) ## Start an exercise in a copy of its own (N=4 NAME=tombstone)
	@$(WORKSHOP) exercise start '$(N)' '$(NAME)'

.PHONY: exercises
exercises: workshop ## List all exercises, and your progress
	@$(WORKSHOP) list

.PHONY: branches
branches: workshop ## Cut a branch for each stage from the present commit: stage-1, stage-2, ...
	@$(WORKSHOP) branches cut

# Which stages there are is for the program to say: a branch has not all of them.
branch-%: workshop ## Go to the branch of a stage (make branch-4)
	@$(WORKSHOP) branches switch '$*'

.PHONY: prefetch
prefetch: $(LAB) ## Fetch and compile all that lessons, exercises and tests need
	@sh tools/scripts/prefetch.sh $(TESTED)

.PHONY: offline-bundle
offline-bundle: | go ## Pack all of that, and Go, for machines without a network
	@mkdir -p bin && sh tools/scripts/offline-bundle.sh "bin/hacking-a-controller-$$(go env GOOS)-$$(go env GOARCH).tar.gz" $(PLACE)

##@ The lab: Kubernetes on this machine

.PHONY: lab
lab: $(LAB) ## Build the lab (minutes the first time, then seconds)

$(LAB): $(LAB_SOURCES) | go
	@echo '==> building the lab'
	@go -C lab run ./build

.PHONY: lab-up
lab-up: $(LAB) ## Start the lab, or see that it runs
	@$(LAB) up

.PHONY: lab-down
lab-down: built ## Stop the lab and keep its data
	@$(LAB) down

.PHONY: lab-reset
lab-reset: built ## Stop the lab and wipe its data
	@$(LAB) reset

.PHONY: lab-status
lab-status: built ## Say how each component of the lab is
	@$(LAB) status

.PHONY: scheduler
scheduler: lab-up ## Build a scheduler of our own, put it in place, and see what it decides
	@sh lab/scheduler/demo.sh

.PHONY: env
env: built ## Print exports for your shell: eval "$(make env)"
	@$(LAB) env

# To stop the lab or to look at it nobody wants to wait for a build.
.PHONY: built
built:
	@test -x $(LAB) || { echo "the lab is not built yet; to build and start it: make lab-up" >&2; exit 1; }

# What a stage adds to this file, as its folder may be missing: a branch stage-N has
# the first N.
include $(wildcard [0-9][0-9]-*/lesson/stage.mk)

##@ Compare

DIFFS := $(addprefix diff-,$(foreach stage,$(wildcard [0-9][0-9]-*/first),$(if $(FROM_$(call number,$(stage))),$(call number,$(stage)))))

.PHONY: $(DIFFS)
# Where there is little left to compare, the stage has a table.
$(DIFFS): diff-%: ## Show what first/ of a stage has that the one before does not
	@cat $(call folder,$*)/lesson/diff.txt 2>/dev/null || git diff --no-index -- $(FROM_$*)/first/main.go $(call folder,$*)/first/main.go || [ $$? = 1 ]

##@ Test

# The API server of the tests is the lab's, unless KUBEBUILDER_ASSETS names another.
# The tests of the lab itself are always of this lab.
ASSETS := $(if $(KUBEBUILDER_ASSETS),$(if $(findstring /lab/bin,$(KUBEBUILDER_ASSETS)),$(LAB)),$(LAB))
test test-lab: $(LAB)
# Tests start labs, and link Kubernetes. Those of PostgreSQL make a database of a gigabyte, and
# copies of it.
$(TESTS): ROOM = 1000
test-5-postgres: ROOM = 5000
test: ROOM = $(if $(filter %/postgres,$(TESTED)),5000,1000)

TEST_FLAGS = -timeout 20m $(if $(COUNT),-count=$(COUNT))
# What takes longest stands last in the alphabet, and is to begin first.
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))

.PHONY: test
test: $(ASSETS) | go ## Test every module (COUNT=1 runs all anew; RACE=1 with the race detector; TEST_TIMEOUT=5m)
	@sh tools/scripts/timed.sh 'all modules' sh tools/scripts/test-modules.sh $(TEST_FLAGS) -- $(call reverse,$(TESTED))

# The API server of the tests is the lab's, unless KUBEBUILDER_ASSETS names
# another.
.PHONY: $(TESTS)
$(TESTS): test-%: $(ASSETS) | go ## Test one module
	@sh tools/scripts/timed.sh $(call folder,$*) sh tools/scripts/test-module.sh $(call folder,$*) $(TEST_FLAGS)

.PHONY: bench
bench: $(LAB) ## Measure the lab and print the tables (ARGS="-runs 1")
	@go -C lab run ./bench $(ARGS)

.PHONY: $(BENCHES)
$(BENCHES): bench-%: $(ASSETS) | go ## Run a stage's benchmarks
	@cd $(call folder,$*) && KUBEBUILDER_ASSETS="$${KUBEBUILDER_ASSETS:-$(CURDIR)/lab/bin}" go test -run '^$$' -bench . -timeout 60m $(ARGS) ./...

.PHONY: bench-learn
bench-learn: workshop $(BUILT_LAB) ## Measure the time from a save to the verdict (ARGS="--runs 4 1-login")
	@$(WORKSHOP) exercise bench $(ARGS)

.PHONY: prove
prove: workshop $(LAB) ## Walk all lessons, test all branches, break all exercises (TESTED=1 right after make test)
	@$(if $(wildcard 05-crd-operator),sh tools/scripts/record.sh --check)
	@$(WORKSHOP) prove $(if $(TESTED),--tested) $(if $(DEPENDENTS),--dependents)

##@ Care

.PHONY: verify
verify: $(LAB) ## Check form, lint, modules, versions and scripts, as CI does
	@sh tools/scripts/verify.sh $(MODULES)

.PHONY: fmt
fmt: | go ## Format all Go code
	@gofmt -l -w $(MODULES)

.PHONY: lint
lint: $(LAB) ## Run only the linter
	@sh tools/scripts/lint.sh $(MODULES)

.PHONY: vulncheck
vulncheck: | go ## Report known vulnerabilities that a module calls (needs a network)
	@sh tools/scripts/govulncheck.sh $(MODULES)

.PHONY: generate
generate: | go ## Write all generated code and manifests anew
	@for script in $(wildcard */generate.sh */*/generate.sh); do sh $$script || exit 1; done
	@go -C tools run ./cmd/pictures ..
	@go -C tools run ./workshop lesson build

.PHONY: tidy
tidy: | go ## Run go mod tidy in every module
	@for module in $(MODULES); do go -C $$module mod tidy || exit 1; done

.PHONY: clean
clean: ## Remove what was built (the lab's data stays: make lab-reset)
	@rm -rf bin lab/bin

# What must be free for temporary files, in megabytes.
ROOM = 100
.PHONY: go
go:
	@sh tools/scripts/preflight.sh $(ROOM)

.PHONY: help
help:
	@echo "The two to begin with: make stage-1, make learn"
	@awk -v stages="$(STAGES)" -v tests="$(TESTS)" -v benches="$(BENCHES)" -v diffs="$(DIFFS)" ' \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[^#\t].*:.* ## / { \
	    name = $$1; sub(/:$$/, "", name); text = $$0; sub(/.* ## /, "", text); \
	    if (name == "$$(STAGES)") name = stages; \
	    if (name == "$$(TESTS)") name = tests; \
	    if (name == "$$(BENCHES)") name = benches; \
	    if (name == "$$(DIFFS)") name = diffs; \
	    sub(/%/, "N", name); \
	    if (length(name) > 10) { printf "  %s\n", name; name = "" } \
	    printf "  %-11s %s\n", name, text \
	  }' $(MAKEFILE_LIST)

# What is left over are misspelt or missing targets.
stage-%:
	@echo "there is no stage $* here; there is: $(STAGES)" >&2; exit 1
bench-%:
	@echo "there are no benchmarks for $* here; there are: $(BENCHES)" >&2; exit 1
diff-%:
	@echo "there is nothing to compare for stage $*; there is: $(DIFFS)" >&2; exit 1
test-%:
	@echo "there is no module $* here; there is: $(TESTS)" >&2; exit 1
cluster-%:
	@echo "CLUSTER is $*; it can be lab (the default) or current (your kubeconfig's current context)" >&2; exit 1
