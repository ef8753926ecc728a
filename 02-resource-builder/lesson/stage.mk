# What `make stage-2` shows without ARGS.
ARGS_2 := namespaces,nodes,deployments,pods --all-namespaces
# What `make diff-2` compares first/ with.
FROM_2 := 01-client-list
