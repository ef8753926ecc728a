package image

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTwoBuildsOfOneCommitAreTheSame(t *testing.T) {
	one, _ := makeImage(t, copyModule(t), here)

	// The other person has a clone elsewhere, and has set whatever Go lets one set.
	settings := map[string]string{
		"CGO_ENABLED": "1", "GOFLAGS": "-tags=other", "GOEXPERIMENT": "arenas", "GOFIPS140": "latest",
		"GOAMD64": "v3", "GOARM64": "v9.0", "GOOS": "plan9", "GOARCH": "386",
	}
	for sentence, set := range map[string]func(*testing.T){
		"set in the environment": func(t *testing.T) {
			for name, value := range settings {
				t.Setenv(name, value)
			}
		},
		"set with go env -w": func(t *testing.T) {
			// The file of another home; the caches are large, so they stay.
			t.Setenv("GOMODCACHE", printed(t, "go", "env", "GOMODCACHE"))
			t.Setenv("GOCACHE", printed(t, "go", "env", "GOCACHE"))
			t.Setenv("HOME", t.TempDir())
			t.Setenv("XDG_CONFIG_HOME", "")
			for name, value := range settings {
				t.Setenv(name, "") // as if it were not set there
				printed(t, "go", "env", "-w", name+"="+value)
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			folder := copyModule(t)
			require.NoError(t, os.WriteFile(filepath.Join(folder, "../go.work"), []byte("go 1.26.0\n"), 0o600))
			inRepository(t, filepath.Dir(folder))
			set(t)
			other, _ := makeImage(t, folder, here)
			sameContent(t, one, other)
		})
	}
}

func TestTheImage(t *testing.T) {
	folder := copyModule(t)
	_, index := makeImage(t, folder, here)
	require.NoError(t, validate.Index(index))
	assert.Equal(t, "docker.io/library/cnat-manager:v1.2.3", only(t, index).Annotations["io.containerd.image.name"])

	image, config := onlyImage(t, index)
	created := optionsOf("").Created
	assert.Equal(t, here, config.Platform().String())
	assert.Equal(t, created, config.Created.Time)
	assert.Equal(t, v1.Config{
		Entrypoint: []string{"/manager"},
		User:       "65532:65532",
		Labels: map[string]string{
			"org.opencontainers.image.title":    "cnat-manager",
			"org.opencontainers.image.version":  "v1.2.3",
			"org.opencontainers.image.revision": "abc123",
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}, config.Config)
	assert.Equal(t, []v1.History{{Created: v1.Time{Time: created}, CreatedBy: "COPY manager /manager"}}, config.History)
	header, program := programOf(t, image)
	assert.Equal(t, "manager", header.Name)
	assert.EqualValues(t, 0o555, header.Mode)
	assert.True(t, created.Equal(header.ModTime), header.ModTime)

	assert.Regexp(t, "^YAY v1.2.3 abc123\n", printed(t, program))
	assert.Empty(t, printed(t, "go", "tool", "buildid", program))
	assert.NotContains(t, read(t, program), filepath.Dir(folder), "where it was compiled is nobody's business")
}

func TestSeveralPlatforms(t *testing.T) {
	platforms := []string{"linux/amd64", "linux/arm64"}
	_, index := makeImage(t, copyModule(t), platforms...)
	require.NoError(t, validate.Index(index))
	list := only(t, index)
	assert.Equal(t, types.OCIImageIndex, list.MediaType)
	assert.Equal(t, "docker.io/library/cnat-manager:v1.2.3", list.Annotations["io.containerd.image.name"])

	images, err := index.ImageIndex(list.Digest)
	require.NoError(t, err)
	manifest, err := images.IndexManifest()
	require.NoError(t, err)
	var got []string
	machines := map[string]elf.Machine{"linux/amd64": elf.EM_X86_64, "linux/arm64": elf.EM_AARCH64}
	for _, entry := range manifest.Manifests {
		image, err := images.Image(entry.Digest)
		require.NoError(t, err)
		config, err := image.ConfigFile()
		require.NoError(t, err)
		platform := config.Platform().String()
		assert.Equal(t, platform, entry.Platform.String())
		got = append(got, platform)

		_, path := programOf(t, image)
		program, err := elf.Open(path)
		require.NoError(t, err)
		defer program.Close()
		assert.Equal(t, machines[platform], program.Machine)
		for _, segment := range program.Progs {
			assert.NotContains(t, []elf.ProgType{elf.PT_INTERP, elf.PT_DYNAMIC}, segment.Type, "static: nothing else is in the image")
		}
	}
	assert.Equal(t, platforms, got)
}
