package load

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

const (
	// ahead is how long before its schedule an At is created, at least.
	ahead = 2 * time.Second
	// creators is how many requests to create an At are under way at once, at most.
	creators = 32
)

// workload is Ats, and the pods that came of them.
type workload struct {
	cluster *cluster
	prefix  string        // of its namespaces
	rotate  time.Duration // how long a namespace gets new Ats
	late    time.Duration // a schedule is missed when the pod is later than this

	mu      sync.Mutex
	ats     map[types.NamespacedName]*scheduled
	refused int   // creates that failed
	problem error // why the last of them failed
}

// scheduled is an At that was created.
type scheduled struct {
	due  time.Time
	pod  time.Time          // when its first pod was seen
	pods map[types.UID]bool // more than one is one too many
}

// newWorkload watches pods until the context ends.
func newWorkload(ctx context.Context, c *cluster, prefix string, rotate, late time.Duration) (*workload, error) {
	w := &workload{cluster: c, prefix: prefix, rotate: rotate, late: late, ats: map[types.NamespacedName]*scheduled{}}
	factory := informers.NewSharedInformerFactoryWithOptions(c.kube, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.LabelSelector = lifecycle.PodSelector
	}))
	informer := factory.Core().V1().Pods().Informer()
	// An update may be two pods of one name, one after the other.
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: w.see, UpdateFunc: func(_, now any) { w.see(now) }})
	if err != nil {
		return nil, err
	}
	factory.StartWithContext(ctx)
	if !cache.WaitFor(ctx, "", informer.HasSyncedChecker()) {
		return nil, fmt.Errorf("watching pods: %w", ctx.Err())
	}
	return w, nil
}

// see notes a pod, and when it was first seen.
func (w *workload) see(object any) {
	now := time.Now()
	pod := object.(*corev1.Pod)
	name, _ := lifecycle.AtOf(pod)
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.ats[types.NamespacedName{Namespace: pod.Namespace, Name: name}]
	if at == nil || at.pods[pod.UID] {
		return
	}
	if len(at.pods) == 0 {
		at.pod = now
	}
	at.pods[pod.UID] = true
}

// run creates so many Ats a second until the context ends, or for a time. Those that were
// created before it returns count.
func (w *workload) run(ctx context.Context, rate float64, length time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, creators)
	begin, namespaces := time.Now(), 0
	for i := 0; ; i++ {
		next := begin.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if sleep(ctx, time.Until(next)) != nil {
			return
		}
		if namespaces == 0 || next.Sub(begin)/w.rotate >= time.Duration(namespaces) {
			if w.open(context.WithoutCancel(ctx), namespaces) != nil {
				return
			}
			namespaces++
		}
		name := types.NamespacedName{Namespace: w.namespace(namespaces - 1), Name: fmt.Sprintf("at-%d", i)}
		slots <- struct{}{}
		wg.Go(func() {
			w.create(context.WithoutCancel(ctx), name)
			<-slots
		})
	}
}

func (w *workload) namespace(i int) string { return fmt.Sprintf("%s-%d", w.prefix, i) }

// open makes a namespace, and deletes the one before the last: by then its Ats were due for a
// while, and with it go their pods and events.
func (w *workload) open(ctx context.Context, i int) error {
	namespaces := w.cluster.kube.CoreV1().Namespaces()
	_, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace(i)}}, metav1.CreateOptions{})
	if err == nil && i >= 2 {
		err = namespaces.Delete(ctx, w.namespace(i-2), metav1.DeleteOptions{})
	}
	if err != nil {
		w.refuse(err)
	}
	return err
}

// create creates an At that is due at a full second, as schedules are.
func (w *workload) create(ctx context.Context, name types.NamespacedName) {
	due := time.Now().Add(ahead + time.Second).Truncate(time.Second)
	w.mu.Lock()
	w.ats[name] = &scheduled{due: due, pods: map[types.UID]bool{}} // before its pod can be seen
	w.mu.Unlock()
	_, err := w.cluster.ats.CnatV1alpha1().Ats(name.Namespace).Create(ctx, &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		Spec:       cnat.AtSpec{Schedule: due.UTC().Format(time.RFC3339), Command: "echo YAY"},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		w.refuse(err)
		w.mu.Lock()
		delete(w.ats, name)
		w.mu.Unlock()
	}
}

func (w *workload) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused++
	w.problem = err
}

// Outcome is what became of the Ats.
type Outcome struct {
	Ats     int
	Open    int // have no pod yet, and it is not too late
	Missed  int // have no pod
	Double  int // have had more than one
	Refused int // could not be created
	Problem error
	Delays  []float64 // of each pod, in seconds after the At was due
}

// outcome is what there is to say at this time.
func (w *workload) outcome(now time.Time) Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := Outcome{Ats: len(w.ats), Refused: w.refused, Problem: w.problem}
	for _, at := range w.ats {
		switch {
		case len(at.pods) == 0 && now.Sub(at.due) < w.late:
			o.Open++
		case len(at.pods) == 0:
			o.Missed++
		default:
			o.Delays = append(o.Delays, at.pod.Sub(at.due).Seconds())
			if len(at.pods) > 1 {
				o.Double++
			}
		}
	}
	return o
}

// wait waits until each At has its pod, or it is too late for that.
func (w *workload) wait(ctx context.Context) Outcome {
	for {
		o := w.outcome(time.Now())
		if o.Open == 0 || sleep(ctx, 200*time.Millisecond) != nil {
			return o
		}
	}
}

func (o Outcome) String() string {
	var extra []string
	if o.Open > 0 {
		extra = append(extra, fmt.Sprintf("%d not yet due or on their way", o.Open))
	}
	if o.Refused > 0 {
		extra = append(extra, fmt.Sprintf("%d could not be created, the last because of: %v", o.Refused, o.Problem))
	}
	line := fmt.Sprintf("%d Ats, %d missed, %d double; from due to pod p50 %.2fs, p99 %.2fs, at most %.2fs",
		o.Ats, o.Missed, o.Double, Quantile(o.Delays, 0.5), Quantile(o.Delays, 0.99), Quantile(o.Delays, 1))
	return strings.Join(append([]string{line}, extra...), "; ")
}

// sleep is an error if the context has ended, or ends meanwhile.
func sleep(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
	return ctx.Err()
}
