package member

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func TestHistoryIsRead(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		want    []plan.Fork
	}{
		"as PostgreSQL writes it":               {"1\t0/300\tno recovery target specified\n\n2\t1/500\tno recovery target specified\n", []plan.Fork{{Timeline: 1, At: 0x300}, {Timeline: 2, At: 0x1_0000_0500}}},
		"of a timeline that was never begun":    {archive.Placeholder, nil},
		"one of these that a crash has cut off": {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseHistory(tc.content)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestHistoryThatCannotBeRead(t *testing.T) {
	for name, content := range map[string]string{
		"no timeline": "one\t0/300\tx\n",
		"no position": "1\n",
		"a number":    "1\t300\tx\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseHistory(content)
			assert.Error(t, err)
		})
	}
}

func TestPositionIsReadAsItIsPrinted(t *testing.T) {
	at, err := parseLSN("1A/2B3C4D5E")
	require.NoError(t, err)
	assert.Equal(t, "1A/2B3C4D5E", at.String())
}
