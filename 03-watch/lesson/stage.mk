# What `make stage-3` shows without ARGS.
ARGS_3 := pods --all-namespaces
