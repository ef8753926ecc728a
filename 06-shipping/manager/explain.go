package manager

import (
	"errors"
	"fmt"
	"syscall"

	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// explain adds to an error what can be done about it.
func explain(err error, config *rest.Config, o Options) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w; choose another with --metrics-bind-address (now %s) or --health-bind-address (now %s)", err, o.MetricsAddress, o.HealthAddress)
	case err != nil && err.Error() == leadershipLost:
		return fmt.Errorf("%s: the API server has not answered for %s, or another manager has taken over; start this one again, and it stands by", leadershipLost, renewDeadline)
	default:
		return cli.Explain(err, config.Host)
	}
}

// leadershipLost is what the framework says; it has no error value for that.
const leadershipLost = "leader election lost"
