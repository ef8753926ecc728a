package member

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The example of RFC 7677: with the key of the verifier, a server signs what the example has.
func TestVerifierIsThatOfTheStandard(t *testing.T) {
	const (
		messages = "n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
		signed   = "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
	)
	salt, err := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	require.NoError(t, err)
	got, err := verifier("pencil", salt, 4096)
	require.NoError(t, err)
	assert.Contains(t, got, "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$")
	key, err := base64.StdEncoding.DecodeString(got[strings.LastIndex(got, ":")+1:])
	require.NoError(t, err)
	assert.Equal(t, signed, base64.StdEncoding.EncodeToString(sign(key, messages)))
}

func TestWhetherAPasswordIsStored(t *testing.T) {
	stored, err := newVerifier("pencil")
	require.NoError(t, err)
	other, err := newVerifier("pencil")
	require.NoError(t, err)
	assert.NotEqual(t, stored, other, "each has a salt of its own")
	for name, tc := range map[string]struct {
		stored, password string
		want             bool
	}{
		"it is":                      {stored, "pencil", true},
		"another one is":             {stored, "pen", false},
		"none is":                    {"", "pencil", false},
		"it is stored as MD5":        {"md5a8b5ff4e9b1f6c4a1ed0a3c1d2f2b3c4", "pencil", false},
		"the verifier is cut off":    {stored[:40], "pencil", false},
		"it has no number of rounds": {strings.Replace(stored, "4096", "x", 1), "pencil", false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, verifies(tc.stored, tc.password))
		})
	}
}

func TestWhatAPasswordMayBe(t *testing.T) {
	for name, tc := range map[string]struct{ content, want string }{
		"any printable ASCII":     {" p:a\\s's\"$ \n", " p:a\\s's\"$ "},
		"with no end of the line": {"password", "password"},
		"not empty":               {"\n", ""},
		"not two lines":           {"pass\nword", ""},
		"no other letters":        {"pässword", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := secrets(t.TempDir())
			require.NoError(t, os.Mkdir(filepath.Join(string(files), "app"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(string(files), "app", "password"), []byte(tc.content), 0o600))
			got, err := files.password("app")
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.want == "", err != nil)
		})
	}
}
