package manager

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

func election(t *testing.T, identity string) ctrl.Options {
	t.Helper()
	options := ctrl.Options{}
	require.NoError(t, electLeader(&options, &rest.Config{}, Options{Identity: identity, LeaderNamespace: "harbour"}))
	return options
}

func TestTheElection(t *testing.T) {
	o := election(t, "manager-1")
	assert.True(t, o.LeaderElection)
	assert.True(t, o.LeaderElectionReleaseOnCancel)
	assert.Equal(t, "cnat-manager", o.LeaderElectionID)
	assert.Equal(t, []time.Duration{15 * time.Second, 10 * time.Second, 2 * time.Second}, []time.Duration{*o.LeaseDuration, *o.RenewDeadline, *o.RetryPeriod})
	assert.Equal(t, "harbour/cnat-manager", o.LeaderElectionResourceLockInterface.Describe())
}

func TestEachProcessHasAnIdentityOfItsOwn(t *testing.T) {
	identity := func(name string) string { return election(t, name).LeaderElectionResourceLockInterface.Identity() }
	assert.True(t, strings.HasPrefix(identity("manager-1"), "manager-1_"))
	first, again := identity("manager-1"), identity("manager-1")
	assert.NotEqual(t, first, again, "one that comes back is another")
	hostname, err := os.Hostname()
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(identity(""), hostname+"_"))
}

// candidate is a manager that may be elected.
type candidate struct {
	ctrl.Manager
	elected chan struct{}
}

func (c candidate) Elected() <-chan struct{} { return c.elected }

func TestOneLeadsOnceItIsElected(t *testing.T) {
	c := candidate{elected: make(chan struct{})}
	assert.False(t, leads(c))
	close(c.elected)
	assert.True(t, leads(c))
}
