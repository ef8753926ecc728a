# What `make diff-3` compares first/ with.
FROM_3 := 01-client-list
