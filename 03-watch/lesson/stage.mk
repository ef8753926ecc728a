# What `make stage-3` shows without ARGS.
ARGS_3 := pods --all-namespaces
# What `make diff-3` compares first/ with.
FROM_3 := 01-client-list
