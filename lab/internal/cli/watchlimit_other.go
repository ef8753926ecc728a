//go:build !linux

package cli

// watchLimit has nothing to warn of: the limit is Linux's.
func watchLimit(string) []string { return nil }
