package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/internal/testmanifests"
)

// dist is what make dist writes, with variables for the occasion.
func dist(t *testing.T, version, folder string, variables ...string) objects {
	t.Helper()
	manifests, err := testmanifests.Dist(t, "..", version, "config/"+folder, variables...)
	require.NoError(t, err)
	return testmanifests.Decode(t, manifests)
}

func TestTheManifestsAreThoseOfTheFolder(t *testing.T) {
	for _, folder := range installations {
		assert.Equal(t, build(t, folder), dist(t, "", folder), folder)
	}
}

func TestTheManifestsOfAnOccasion(t *testing.T) {
	for _, folder := range installations {
		all := dist(t, "v1.2.3", folder, "IMAGE=registry.example:5000/cnat", "REGION=harbour")
		assert.Equal(t, "registry.example:5000/cnat:v1.2.3", deploymentOf(t, all).Spec.Template.Spec.Containers[0].Image)

		// The ConfigMap has another name now, and the manager still reads it.
		want := options(t, build(t, folder))
		want.Region = "harbour"
		assert.Equal(t, want, options(t, all))
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
			assert.Equal(t, want, deploymentOf(t, dist(t, version, "overlays/ha", "IMAGE="+image)).Spec.Template.Spec.Containers[0].Image)
		}
	}
}

func TestAnAlertLinksToItsRunbook(t *testing.T) {
	rules := ofKind(dist(t, "", "overlays/monitored", "RUNBOOKS=https://wiki.example/books"), "PrometheusRule")
	require.Len(t, rules, 1)
	text, err := rules[0].MarshalJSON()
	require.NoError(t, err)
	assert.Contains(t, string(text), `"runbook_url":"https://wiki.example/books/CnatManagerDown.md"`)
	assert.NotContains(t, string(text), `"runbook":`)
}

func TestWrongWishesForTheManifests(t *testing.T) {
	refuses := func(want, folder, variable string) {
		_, err := testmanifests.Dist(t, "..", "", "config/"+folder, variable)
		require.EqualError(t, err, "dist.sh: "+want+"\n")
	}
	zeros := strings.Repeat("0", 64)
	for _, wrong := range []string{"", "sha256:", "sha256:" + zeros[1:], "sha256:0" + zeros, "sha256:" + strings.Repeat("G", 64), "sha512:" + zeros, "sha256:" + zeros + "@sha256:" + zeros} {
		refuses(`"`+wrong+`" is no digest of an image: that is sha256: and 64 digits, 0 to 9 and a to f`, "default", "IMAGE=cnat-manager@"+wrong)
	}
	for _, wrong := range []string{"wiki", "http://wiki.example", "https://wiki.example/"} {
		refuses(`"`+wrong+`" is no address of runbooks: that begins with https:// and ends without a /`, "default", "RUNBOOKS="+wrong)
	}
	for _, wrong := range []string{"cnat:v1", "registry.example:5000/cnat:v1"} {
		refuses(`"`+wrong+`" has a tag; name the image without it, and the tag as VERSION`, "default", "IMAGE="+wrong)
	}
	refuses("there is no config/moon; there is config/default, config/overlays/ha, config/overlays/monitored, config/overlays/namespaced, config/overlays/traced", "moon", "")
	refuses(`"a: b" cannot be a version, a region, an image or an address: it has more than letters, digits and ._:/@-`, "default", "REGION=a: b")
}
