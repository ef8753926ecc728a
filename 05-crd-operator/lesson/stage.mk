# What `make stage-5` runs without PROGRAM, and with which flags without ARGS.
PROGRAM_5 := ./cmd/clientgo
ARGS_5 := --all-namespaces
