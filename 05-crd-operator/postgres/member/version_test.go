package member

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheVersionIsWhatPostgresPrints(t *testing.T) {
	for line, want := range map[string]string{
		"postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)": "15.14",
		"postgres (PostgreSQL) 17.6":                           "17.6",
		"postgres (PostgreSQL) 18beta1":                        "18beta1",
		"postgres (PostgreSQL) devel":                          "",
	} {
		t.Run(line, func(t *testing.T) {
			programs := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(programs, "postgres"), []byte("#!/bin/sh\necho '"+line+"'\n"), 0o700))
			got, err := findVersion(t.Context(), programs)
			assert.Equal(t, want, got)
			assert.Equal(t, want == "", err != nil, "%v", err)
		})
	}
}
