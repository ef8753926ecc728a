package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Neither of these makes a request.
func TestWhatTheBuilderIgnoresOrWaitsForIsRejected(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"fields of what a file names": {[]string{"-f", "x.yaml", "--field-selector", "spec=a"}, "--field-selector and -f can't be given together: only the server compares fields, and only in lists"},
		"a URL that may never answer": {[]string{"-f", "https://example.com/x.yaml"}, "-f reads files only: the Builder would wait for a URL forever; download it first"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, stderr := resourceBuilder(t, tc.args...)
			assert.Equal(t, []string{tc.want}, stderr)
		})
	}
}
