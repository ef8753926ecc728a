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
	one, err := newVerifier("pencil")
	require.NoError(t, err)
	another, err := newVerifier("pencil")
	require.NoError(t, err)
	assert.NotEqual(t, one, another, "each has a salt of its own")
	got, err := verifier("pencil", salt)
	require.NoError(t, err)
	assert.Contains(t, got, "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$")
	key, err := base64.StdEncoding.DecodeString(got[strings.LastIndex(got, ":")+1:])
	require.NoError(t, err)
	assert.Equal(t, signed, base64.StdEncoding.EncodeToString(sign(key, messages)))
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
