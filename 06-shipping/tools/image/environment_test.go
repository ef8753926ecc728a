package image

import (
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhereModulesComeFromStaysAsItIsSet(t *testing.T) {
	t.Setenv("GOPROXY", "https://modules.example.com")
	t.Setenv("GOMODCACHE", "/modules")
	t.Setenv("GOFLAGS", "-tags=other")
	t.Setenv("HTTPS_PROXY", "https://proxy.example.com")
	got, err := environment(t.Context(), ".", v1.Platform{OS: "darwin", Architecture: "arm64"})
	require.NoError(t, err)
	assert.Subset(t, got, []string{
		"GOPROXY=https://modules.example.com", "GOMODCACHE=/modules", "HTTPS_PROXY=https://proxy.example.com",
		"GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0", "GOENV=off", "GOWORK=off",
	})
	assert.NotContains(t, got, "GOFLAGS=-tags=other")
}

func TestASettingThatGoRefuses(t *testing.T) {
	t.Setenv("GOEXPERIMENT", "moon")
	_, err := environment(t.Context(), ".", v1.Platform{OS: "linux", Architecture: "amd64"})
	require.EqualError(t, err, "go: unknown GOEXPERIMENT moon")
}
