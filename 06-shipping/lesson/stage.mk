# What `make stage-6` runs without PROGRAM, and the module below the stage that has it.
PROGRAM_6 := ./cmd/image
MODULE_6  := /tools

# The version of the manager, which is the tag of its image; and what is installed:
# default, overlays/ha, overlays/monitored or overlays/namespaced.
VERSION ?= v0.6.0
OVERLAY ?= default

##@ Ship: the manager of stage 6

.PHONY: image
image: | go ## Make its image without Docker: bin/cnat-manager.tar (VERSION=v0.6.1)
	@mkdir -p bin
	@go -C 06-shipping/tools build -o ../bin/ ./cmd/image
	@cd 06-shipping && bin/image --version '$(VERSION)' --platform "$$(go env GOOS)/$$(go env GOARCH)" $(ARGS)

.PHONY: dist
dist: | go ## Write what installs it: bin/install.yaml (OVERLAY=overlays/ha REGION=coast IMAGE=...)
	@mkdir -p bin
	@sh 06-shipping/dist.sh '$(VERSION)' 'config/$(OVERLAY)' >bin/install.yaml
	@echo 'wrote bin/install.yaml; to install: kubectl apply -f bin/install.yaml'

# A cluster of your own has to get the image in its own way first.
.PHONY: deploy
deploy: cluster-$(CLUSTER) dist $(if $(filter lab,$(CLUSTER)),image) ## Install it (CLUSTER=current for your own cluster)
	@if [ '$(CLUSTER)' = lab ]; then eval "$$($(LAB) env)" && lab load bin/cnat-manager.tar || exit 1; fi; \
	kubectl apply -f bin/install.yaml && kubectl rollout status -n cnat-system deployment/cnat-manager --timeout=120s

.PHONY: undeploy
undeploy: cluster-$(CLUSTER) ## Uninstall it, with its CRDs and their objects
	@if [ '$(CLUSTER)' = lab ]; then eval "$$($(LAB) env)"; fi; sh 06-shipping/undeploy.sh

.PHONY: scheduler
scheduler: lab-up ## Build a scheduler of our own, put it in place, and see what it decides
	@sh 06-shipping/controlplane/scheduler/demo.sh

.PHONY: e2e
e2e: $(LAB) | go ## Install it in a lab of its own, and let things go wrong
	@export HEAVY=1 KUBEBUILDER_ASSETS="$$PWD/lab/bin"; . ./06-shipping/test-env.sh && cd 06-shipping && go test -count=1 -v -timeout 30m ./e2e

# How long a soak takes: make soak-6 FOR=10m
FOR ?= 2h

.PHONY: load-6
load-6: $(LAB) | go ## Measure the manager: more and more Ats a second, until it is late (some 5 minutes)
	@sh 06-shipping/load.sh ramp

.PHONY: soak-6
soak-6: $(LAB) | go ## Run Ats for hours, kill leaders, cut watches, and see what grows (FOR=10m)
	@sh 06-shipping/load.sh soak --for='$(FOR)' $(ARGS)
