package manager

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
)

// leaseName is that of the Lease. All managers of a namespace share it.
const leaseName = "cnat-manager"

// The leader renews the Lease every retryPeriod. A leader that is stopped gives it back.
// One that dies does not: another may take the Lease when it has not seen it renewed for
// leaseDuration. A standby looks every 2 to 4.4 seconds (retryPeriod with jitter), so a
// dead leader is replaced after 24 seconds at most.
//
// A leader that has tried to renew it for renewDeadline gives up. Mostly that is before
// another may take it, but not always. If the server is silent, the last attempt to give
// the Lease back takes another 5 seconds. And a process that was paused for longer than
// the Lease lasts goes on as leader beside the new one, and tries for renewDeadline. So
// leader election saves work; it does not guarantee one leader. That no At has two pods,
// stage 5 guarantees, and it says which window is left for a command to run twice.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// electLeader makes the manager work only while it holds the Lease. The lock is made
// here, and not by the framework, whose lock also records events about the leader. That
// takes one right more, and the Lease has the name.
func electLeader(options *ctrl.Options, config *rest.Config, o Options) error {
	hostname, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("finding a name for this manager: %w; set POD_NAME", err)
	}
	// Each process has an identity of its own. If one that crashes again and again came
	// back under the same name, it would still hold the Lease, and no standby would ever
	// have its turn.
	identity := cmp.Or(o.Identity, hostname) + "_" + string(uuid.NewUUID())
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
func leads(mgr ctrl.Manager) bool {
	select {
	case <-mgr.Elected():
		return true
	default:
		return false
	}
}
