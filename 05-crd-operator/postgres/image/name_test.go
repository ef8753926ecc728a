package image

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheTagIsAVersion(t *testing.T) {
	p := PostgreSQL{Version: "17.6", Major: 17}
	assert.Equal(t, "postgres-member:17", p.name(Major))
	assert.Equal(t, "postgres-member:17.6", p.name(Minor))
}
