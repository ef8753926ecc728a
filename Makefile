# What you need to learn and to teach. Type `make` for the list. What it takes to look after
# the workshop is in tools/maintain.mk, and what one stage adds is in its lesson/stage.mk.
#
# Everything works on relative paths: the clone's own path may hold spaces.

.DEFAULT_GOAL := help

# Which cluster a stage talks to: lab, or current for your kubeconfig's current context.
CLUSTER ?= lab
# Flags for a stage's program, as in make stage-1 ARGS="-o wide". Without them it gets those
# of its lesson/stage.mk, so that each stage shows something by itself.
ARGS ?=
# The package of the stage that is run: make stage-4 PROGRAM=./first
PROGRAM ?=

include tools/maintain.mk

##@ Run

.PHONY: $(STAGES)
$(STAGES): stage-%: cluster-$(CLUSTER) | go ## Run a stage's program (ARGS="-o wide"; CLUSTER=current for your own cluster)
	@echo '==> building $(call folder,$*)'
	@go -C '$(call folder,$*)$(if $(PROGRAM),,$(MODULE_$*))' build -o "$$PWD/bin/stage-$*" $(or $(PROGRAM),$(PROGRAM_$*),.)
	@echo '==> how it works: $(call folder,$*)/README.md, or make learn FROM=$*' >&2
	@if [ '$(CLUSTER)' = lab ]; then \
	  eval "$$($(LAB) env)"; \
	  for demo in $(wildcard $(call folder,$*)/lesson/demo.yaml); do kubectl apply -f "$$demo" || exit 1; done; \
	  for demo in $(wildcard $(call folder,$*)/lesson/demo.sh); do set -- sh "$$demo"; done; \
	fi; exec "$$@" bin/stage-$* $(or $(ARGS),$(ARGS_$*))

##@ Learn

.PHONY: learn
learn: workshop $(BUILT_LAB) ## Work through a track, with a check at each save (TRACK=day FROM=4)
	@$(WORKSHOP) learn $(if $(TRACK),--track='$(TRACK)') $(if $(FROM),--from='$(FROM)')

.PHONY: ready
ready: ## Is this machine ready? A line to paste into a chat, and what to do
	@sh tools/scripts/ready.sh

.PHONY: exercise
exercise: workshop $(BUILT_LAB) ## Start an exercise in a copy of its own (N=4 NAME=tombstone)
	@$(WORKSHOP) exercise start '$(N)' '$(NAME)'

.PHONY: exercises
exercises: workshop ## List all exercises, and your progress
	@$(WORKSHOP) list

.PHONY: $(DIFFS)
$(DIFFS): diff-%: ## Show what first/ of a stage has that the one before does not
	@cat $(call folder,$*)/lesson/diff.txt 2>/dev/null || git diff --no-index --no-color --no-ext-diff --unified=3 --src-prefix=a/ --dst-prefix=b/ -- $(FROM_$*)/first/main.go $(call folder,$*)/first/main.go || [ $$? = 1 ]

.PHONY: $(GROWS)
$(GROWS): grow-%: | go ## Show what a stage's finished program adds to its first/
	@go -C tools run ./cmd/growth .. '$*'

branch-%: workshop ## Go to the branch of a stage (make branch-4)
	@$(WORKSHOP) branches switch '$*'

##@ The lab: Kubernetes on this machine

.PHONY: lab lab-up lab-down lab-reset lab-status env
lab: $(LAB) ## Build the lab (minutes the first time, then seconds)
lab-up: workshop $(LAB) ## Start the lab, or see that it runs; build bin/workshop, which checks a lesson's steps
	@$(LAB) up
lab-down: built ## Stop the lab and keep its data
	@$(LAB) down
lab-reset: built ## Stop the lab and wipe its data
	@$(LAB) reset
lab-status: built ## Print how each component of the lab is doing
	@$(LAB) status
env: built ## Print exports for your shell: eval "$(make -s env)"
	@$(LAB) env && echo 'export GOWORK=off' # with go.work, go build would take other versions, and compile everything again

##@ Test

.PHONY: test test-heavy $(TESTS)
test: $(ASSETS) | go ## Test every module (COUNT=1 runs everything again; RACE=1; TEST_TIMEOUT=5m)
	@$(call testing,all modules,$(TESTED))
test-heavy: $(LAB) | go ## Test what takes long: soaks, failovers, Helm, OLM, KWOK
	@HEAVY=1 $(call testing,what takes long,$(HEAVY_TESTED))
$(TESTS): test-%: $(ASSETS) | go ## Test one module (HEAVY=1: what takes long in it)
	@sh tools/scripts/timed.sh $(call folder,$*) sh tools/scripts/test-module.sh $(call folder,$*) $(TEST_FLAGS)

.PHONY: help
help:
	@echo "The two to begin with: make stage-1, make learn"
	@$(call targets,Makefile $(wildcard [0-9][0-9]-*/lesson/stage.mk))
	@echo; echo "What it takes to look after the workshop: make help-maintain"
