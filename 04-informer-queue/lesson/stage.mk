# What `make stage-4` runs without PROGRAM.
PROGRAM_4 := ./podruntime
# What `make diff-4` compares first/ with.
FROM_4 := 03-watch

.PHONY: bench-4-observe
bench-4-observe: $(ASSETS) | go ## Compare observe with a loop that only starts the same processes
	@cd 04-informer-queue/observe && KUBEBUILDER_ASSETS="$${KUBEBUILDER_ASSETS:-$$OLDPWD/lab/bin}" go test -run '^$$' -bench . -timeout 60m $(ARGS) .
