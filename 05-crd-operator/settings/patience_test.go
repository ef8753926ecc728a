//go:build !nowatch

package settings

const patienceForDrift = patience
