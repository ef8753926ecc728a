# What it takes to look after the workshop, and what the Makefile at the top is made of, which
# includes this. Paths are from the top of the repository.

.DELETE_ON_ERROR:
.NOTPARALLEL:

# Each module stands alone, whatever go.work says.
export GOWORK := off

# Go writes the commit into what it builds, and asks git for it. Git refuses where the clone
# belongs to another user (a mount in a container, sudo), and then nothing is built. Flags that
# go env -w has set are kept. GOTOOLCHAIN: nothing is downloaded for this question.
export GOFLAGS := $(strip $(filter-out -buildvcs%,$(or $(shell GOWORK=off GOTOOLCHAIN=local go env GOFLAGS 2>/dev/null),$(GOFLAGS))) -buildvcs=false)

# With CDPATH, cd 01-client-list can go to another clone, and prints where it went. A git hook
# sets the others, and git then takes its repository for this one.
unexport CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# How often each test is run.
COUNT ?=
# RACE=1 turns the race detector on. It needs a C compiler, and compiles everything that
# is tested a second time.
RACE ?=
# How many modules are tested at the same time, and how long a test waits for what it
# waits for.
JOBS ?= 2
export JOBS RACE HEAVY SHORT TEST_TIMEOUT TEST_LOG

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

# What a stage adds. Its folder may be missing: a branch stage-N has the first N.
include $(wildcard [0-9][0-9]-*/lesson/stage.mk)

# Where there is little left to compare, the stage has a table.
DIFFS := $(addprefix diff-,$(foreach stage,$(wildcard [0-9][0-9]-*/first),$(if $(FROM_$(call number,$(stage))),$(call number,$(stage)))))

# What a stage's first/ grows into.
GROWS := $(addprefix grow-,$(foreach stage,$(FOLDERS),$(if $(shell grep -s '^$(stage) ' tools/cmd/growth/stages.txt),$(call number,$(stage)))))

# What must be free for temporary files, in megabytes.
ROOM = 100
.PHONY: go
go:
	@sh tools/scripts/preflight.sh $(ROOM)

## The lab

LAB := lab/bin/lab
LAB_SOURCES := $(shell find lab/build lab/cmd lab/internal lab/go.mod lab/go.sum -type f ! -name '*_test.go' ! -name '*.md' ! -path '*/testdata/*')

# Where the archives of a release are, as a URL: with it, the lab of lab/released.txt is fetched instead of
# built. There is no release yet, so it's empty.
LAB_ARCHIVES ?=
export LAB_ARCHIVES

$(LAB): $(LAB_SOURCES) | go
	@echo '==> $(if $(LAB_ARCHIVES),fetching,building) the lab$(if $(LAB_ARCHIVES)$(wildcard $(LAB)),,: minutes, the first time. Meanwhile, read START.md)'
	@go -C lab run ./build

# Only some exercises need the lab, and they build it. One that is built already is kept current.
BUILT_LAB = $(if $(wildcard $(LAB)),$(LAB))

.PHONY: cluster-lab cluster-current built
cluster-lab: $(LAB)
	@$(LAB) up
cluster-current:
# To stop the lab or to look at it nobody wants to wait for a build.
built:
	@test -x $(LAB) || { echo "the lab isn't built yet; to build and start it: make lab-up" >&2; exit 1; }

## Tests

# The API server of the tests is the lab's, unless KUBEBUILDER_ASSETS names another.
# The tests of the lab itself are always of this lab.
ASSETS := $(if $(KUBEBUILDER_ASSETS),$(if $(findstring /lab/bin,$(KUBEBUILDER_ASSETS)),$(LAB)),$(LAB))
test test-lab: $(LAB)
# Tests start labs, and link Kubernetes. Those of PostgreSQL make a database of a gigabyte, and
# copies of it.
test $(TESTS): ROOM = 1000
test-5-postgres: ROOM = 5000
test-heavy: ROOM = 5000

# The modules with packages that only make test-heavy tests.
HEAVY_TESTED := $(filter $(TESTED),$(shell sed 's/\#.*//' tools/heavy-tests.txt | awk 'NF { print $$1 }' | sort -u))

# How long the tests of a package may take in all. On a busy machine those that start labs and kill their
# parts take three times as long as on an idle one.
LIMIT = 20m
test-heavy: LIMIT = 60m
TEST_FLAGS = -timeout $(LIMIT) $(if $(COUNT),-count=$(COUNT))
# What takes longest stands last in the alphabet, and is to begin first.
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))
# testing,NAME,MODULES
testing = sh tools/scripts/timed.sh '$(1)' sh tools/scripts/test-modules.sh $(TEST_FLAGS) -- $(call reverse,$(2))

## The workshop program

WORKSHOP := bin/workshop

.PHONY: workshop
workshop: | go
	@mkdir -p bin && go -C tools build -buildvcs=false -o ../$(WORKSHOP) ./workshop

##@ Take it along

.PHONY: book
book: | go ## Write all lessons as pages for a browser, with a search; as EPUB and PDF; and boards to teach with
	@sh tools/scripts/book.sh

.PHONY: prefetch
prefetch: $(LAB) ## Fetch and compile all that lessons, exercises and tests need
	@sh tools/scripts/prefetch.sh $(TESTED)

.PHONY: offline-bundle
offline-bundle: | go ## Pack all of that, and Go, for machines without a network
	@mkdir -p bin && sh tools/scripts/offline-bundle.sh "bin/hacking-a-controller-$$(go env GOOS)-$$(go env GOARCH).tar.gz" $(PLACE)

.PHONY: lab-archives
lab-archives: | go ## Pack the lab for a release, and pin it (ARGS="linux/amd64 darwin/arm64")
	@go -C lab run ./build archive $(ARGS)

.PHONY: branches
branches: workshop ## Cut a branch for each stage from the present commit: stage-1, stage-2, ...
	@$(WORKSHOP) branches cut

##@ Measure

.PHONY: bench
bench: $(LAB) ## Measure the lab and print the tables (ARGS="-runs 1")
	@go -C lab run ./bench $(ARGS)

.PHONY: $(BENCHES)
$(BENCHES): bench-%: $(ASSETS) | go ## Run a stage's benchmarks
	@cd $(call folder,$*) && KUBEBUILDER_ASSETS="$${KUBEBUILDER_ASSETS:-$$OLDPWD/lab/bin}" go test -run '^$$' -bench . -timeout 60m $(ARGS) ./...

.PHONY: bench-learn
bench-learn: workshop $(LAB) ## Measure the time from a save to the verdict (ARGS="--runs 4 1-login")
	@$(WORKSHOP) exercise bench $(ARGS)

##@ Prove

.PHONY: verify
verify: $(LAB) ## Check form, lint, modules, versions and scripts, as CI does
	@sh tools/scripts/verify.sh $(MODULES)

.PHONY: prove
prove: workshop $(LAB) ## Walk all lessons, test all branches, break all exercises (TESTED=1 right after make test)
	@$(if $(wildcard 05-crd-operator),$(WORKSHOP) once Makefile tools/maintain.mk tools/scripts START.md pictures 05-crd-operator/go.mod 05-crd-operator/go.sum 05-crd-operator/lighthouse/first -- sh tools/scripts/record.sh --check)
	@$(if $(wildcard 05-crd-operator),$(WORKSHOP) once 05-crd-operator/api/kubebuilder.md tools/scripts/scaffold.sh -- sh tools/scripts/scaffold.sh)
	@$(WORKSHOP) prove $(if $(TESTED),--tested) $(if $(DEPENDENTS),--dependents)

.PHONY: reproduce
reproduce: workshop $(LAB) ## Run what each exercise says reproduces its mistake, with the mistake and without
	@$(WORKSHOP) exercise prove --reproduce $(ARGS)

##@ Care

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
generate: | go ## Write all generated code and manifests again
	@for script in $(wildcard */generate.sh */*/generate.sh); do sh $$script || exit 1; done
	@go -C tools run ./cmd/pictures ..
	@go -C tools run ./workshop lesson build

.PHONY: tidy
tidy: | go ## Run go mod tidy in every module
	@for module in $(MODULES); do go -C $$module mod tidy || exit 1; done

.PHONY: clean
clean: ## Remove what was built (the lab's data stays: make lab-reset)
	@rm -rf bin lab/bin

## Help

.PHONY: help-maintain
help-maintain:
	@$(call targets,tools/maintain.mk)

# targets,FILES prints the targets that say after ## what they do.
targets = awk -v stages="$(STAGES)" -v tests="$(TESTS)" -v benches="$(BENCHES)" -v diffs="$(DIFFS)" -v grows="$(GROWS)" ' \
  /^\043\043@/ { printf "\n%s\n", substr($$0, 5) } \
  /^[^\043\t].*:.* \043\043 / { \
    name = $$1; sub(/:$$/, "", name); text = $$0; sub(/.* \043\043 /, "", text); \
    if (name == "$$(STAGES)") name = stages; \
    if (name == "$$(TESTS)") name = tests; \
    if (name == "$$(BENCHES)") name = benches; \
    if (name == "$$(DIFFS)") name = diffs; \
    if (name == "$$(GROWS)") name = grows; \
    sub(/%/, "N", name); \
    if (length(name) > 10) { printf "  %s\n", name; name = "" } \
    printf "  %-11s %s\n", name, text \
  }' $(1)

# What is left over are misspelt or missing targets.
stage-%:
	@echo "there is no stage $* here; there is: $(STAGES)" >&2; exit 1
bench-%:
	@echo "there are no benchmarks for $* here; there are: $(BENCHES)" >&2; exit 1
diff-%:
	@echo "there is nothing to compare for stage $*; there is: $(DIFFS)" >&2; exit 1
grow-%:
	@echo "stage $* doesn't grow out of a page here; these do: $(GROWS)" >&2; exit 1
test-%:
	@echo "there is no module $* here; there is: $(TESTS)" >&2; exit 1
cluster-%:
	@echo "CLUSTER is $*; it can be lab (the default) or current (your kubeconfig's current context)" >&2; exit 1
