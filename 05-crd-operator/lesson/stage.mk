# What `make stage-5` runs without PROGRAM, and with which flags without ARGS.
PROGRAM_5 := ./cmd/clientgo
ARGS_5 := --all-namespaces
# What `make diff-5` compares first/ with: the table in diff.txt.
FROM_5 := 04-informer-queue
