package manager

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime/pkg/manager"
)

// leaseName is that of the Lease. All managers of a namespace share it.
const leaseName = "cnat-manager"

// A leader that dies without a word is replaced after leaseDuration. One that is
// told to stop gives the Lease back, and is replaced at once.
//
// The leader itself gives up after renewDeadline, so that there are never two: its
// clock may go a little slower than that of the others.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// elect makes the manager work only while it holds the Lease. The lock is made
// here, and not by the framework: that one would tell in events who leads, which
// takes one right more, and the Lease says so itself.
func elect(options *ctrl.Options, config *rest.Config, o Options) error {
	if !o.LeaderElect {
		return nil
	}
	name, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("finding a name for this manager: %w; set POD_NAME", err)
	}
	// Each process has a name of its own. If one that crashes again and again came
	// back under the same name, it would still hold the Lease, and no other manager
	// would ever have its turn.
	identity := cmp.Or(o.Identity, name) + "_" + string(uuid.NewUUID())
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, o.LeaderNamespace, leaseName,
		resourcelock.ResourceLockConfig{Identity: identity}, config, renewDeadline)
	if err != nil {
		return fmt.Errorf("creating the lock of the Lease %s/%s: %w", o.LeaderNamespace, leaseName, err)
	}
	options.LeaderElection = true
	options.LeaderElectionResourceLockInterface = lock
	options.LeaderElectionID = leaseName         // for the metric
	options.LeaderElectionReleaseOnCancel = true // the process ends right after
	options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = new(leaseDuration), new(renewDeadline), new(retryPeriod)
	return nil
}

// leads reports whether this manager may work.
func leads(m ctrl.Manager) bool {
	select {
	case <-m.Elected():
		return true
	default:
		return false
	}
}
