package config_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/internal/testmanifests"
	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
)

// dist is what make dist writes, with variables for the occasion.
func dist(t *testing.T, version, folder string, variables ...string) (objects, error) {
	t.Helper()
	testprogram.Path(t, "KUSTOMIZE") // which the script runs
	testprogram.ReadBySomebodyElse(t, "../dist.sh", ".")
	command := exec.CommandContext(t.Context(), "sh", "../dist.sh", version, "config/"+folder)
	command.Env = append(append(os.Environ(), "IMAGE=", "REGION="), variables...)
	manifests, err := testprogram.Output(command)
	if err != nil {
		return nil, err
	}
	return testmanifests.Decode(t, manifests), nil
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

func TestTheImageCanBeNamedByItsDigest(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0f", 32)
	for image, want := range map[string]string{
		"127.0.0.1:5050/cnat-manager@" + digest: "127.0.0.1:5050/cnat-manager@" + digest,
		"@" + digest:                            "cnat-manager@" + digest,
	} {
		for _, version := range []string{"", "v1.2.3"} { // make dist always names one
			all, err := dist(t, version, "overlays/ha", "IMAGE="+image)
			require.NoError(t, err)
			assert.Equal(t, want, deploymentOf(t, all).Spec.Template.Spec.Containers[0].Image)
		}
	}
	for _, wrong := range []string{"", "sha256:", "sha256:" + strings.Repeat("0", 63), "sha256:" + strings.Repeat("0", 65), "sha256:" + strings.Repeat("G", 64), "sha512:" + strings.Repeat("0", 64), digest + "@" + digest} {
		_, err := dist(t, "", "default", "IMAGE=cnat-manager@"+wrong)
		require.EqualError(t, err, `dist.sh: "`+wrong+`" is no digest of an image: that is sha256: and 64 digits, 0 to 9 and a to f`+"\n")
	}
}

func TestAnAlertLinksToItsRunbook(t *testing.T) {
	all, err := dist(t, "", "overlays/monitored", "RUNBOOKS=https://wiki.example/books")
	require.NoError(t, err)
	rules := ofKind(all, "PrometheusRule")
	require.Len(t, rules, 1)
	text, err := rules[0].MarshalJSON()
	require.NoError(t, err)
	assert.Contains(t, string(text), `"runbook_url":"https://wiki.example/books/CnatManagerDown.md"`)
	assert.NotContains(t, string(text), `"runbook":`)
}

func TestWrongWishesForTheManifests(t *testing.T) {
	for _, wrong := range []string{"wiki", "http://wiki.example", "https://wiki.example/"} {
		_, err := dist(t, "", "default", "RUNBOOKS="+wrong)
		require.ErrorContains(t, err, `"`+wrong+`" is no address of runbooks`)
	}
	_, err := dist(t, "", "moon")
	require.EqualError(t, err, "dist.sh: there is no config/moon; there is config/default, config/overlays/ha, config/overlays/monitored, config/overlays/namespaced, config/overlays/traced\n")
	_, err = dist(t, "", "default", "REGION=a: b")
	require.EqualError(t, err, "dist.sh: \"a: b\" cannot be a version, a region, an image or an address: it has more than letters, digits and ._:/@-\n")
}
