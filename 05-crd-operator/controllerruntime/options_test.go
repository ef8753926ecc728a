package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

func TestTheDefaults(t *testing.T) {
	o := Options{}.withDefaults()
	assert.Equal(t, 8, o.Workers)
	assert.IsType(t, wallclock.New(), o.Clock)
	assert.Equal(t, 3, Options{Workers: 3}.withDefaults().Workers)
}
