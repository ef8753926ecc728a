# What `make stage-2` shows without ARGS.
ARGS_2 := namespaces,nodes,deployments,pods --all-namespaces
