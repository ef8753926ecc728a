// Package scripts holds the shell scripts behind make, and their tests. It has no code of its own.
package scripts
