# What `make stage-4` runs without PROGRAM, and with which flags without ARGS.
PROGRAM_4 := ./cmd/podruntime
ARGS_4 := --all-namespaces
# What `make diff-4` compares first/ with.
FROM_4 := 03-watch
# What `make diff-4` compares first/ with.
FROM_4 := 03-watch
