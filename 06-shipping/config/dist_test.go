package config_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dist is what make dist writes, with variables for the occasion.
func dist(t *testing.T, version, folder string, variables ...string) (objects, error) {
	t.Helper()
	readBySomebodyElse(t, "../dist.sh")
	command := exec.CommandContext(t.Context(), "sh", "../dist.sh", version, "config/"+folder)
	command.Env = append(append(os.Environ(), "IMAGE=", "REGION="), variables...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return nil, errors.New(stderr.String())
	}
	return decode(t, output), nil
}

func TestTheManifestsAreThoseOfTheFolder(t *testing.T) {
	for _, folder := range installations {
		all, err := dist(t, "", folder)
		require.NoError(t, err)
		assert.Equal(t, build(t, folder), all, folder)
	}
}

func TestTheRegionIsSetAtInstallation(t *testing.T) {
	for region, want := range map[string]string{"": "unknown", "coast": "coast"} {
		all, err := dist(t, "", "default", "REGION="+region)
		require.NoError(t, err)
		got, err := options(t, all)
		require.NoError(t, err)
		assert.Equal(t, want, got.Region)
	}
}

func TestTheManifestsOfAnOccasion(t *testing.T) {
	for _, folder := range installations {
		all, err := dist(t, "v1.2.3", folder, "IMAGE=registry.example:5000/cnat", "REGION=harbour")
		require.NoError(t, err)
		assert.Equal(t, "registry.example:5000/cnat:v1.2.3", deploymentOf(t, all).Spec.Template.Spec.Containers[0].Image)

		// The ConfigMap has another name now, and the manager still reads it.
		got, err := options(t, all)
		require.NoError(t, err)
		want, err := options(t, build(t, folder))
		require.NoError(t, err)
		want.Region = "harbour"
		assert.Equal(t, want, got)
		assert.Len(t, all, len(build(t, folder)))
	}
}

func TestWrongWishesForTheManifests(t *testing.T) {
	_, err := dist(t, "", "moon")
	require.EqualError(t, err, "dist.sh: there is no config/moon; there is config/default, config/overlays/ha, config/overlays/monitored, config/overlays/namespaced\n")
	_, err = dist(t, "", "default", "REGION=a: b")
	require.EqualError(t, err, "dist.sh: \"a: b\" cannot be a version, a region or an image: it has more than letters, digits and ._:/@-\n")
}
