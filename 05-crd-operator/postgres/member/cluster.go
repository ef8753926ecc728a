package member

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// cluster is what the pod of a member sees of its PostgresCluster.
type cluster struct {
	config *rest.Config
	name   types.NamespacedName
}

// lock is the Lease of the cluster, which has the cluster's name. The operator makes it.
func (c cluster) lock(holder types.UID) (resourcelock.Interface, error) {
	leases, err := coordinationv1.NewForConfig(c.config)
	if err != nil {
		return nil, err
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: c.name.Namespace, Name: c.name.Name},
		Client:     leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: string(holder)},
	}, nil
}

// watch calls seen with each status that is newer than all before it. The first one is read
// live, since a watch may begin with what an API server remembers, which may be old.
func (c cluster) watch(ctx context.Context, seen func(postgres.PostgresClusterStatus)) error {
	scheme := runtime.NewScheme()
	if err := postgres.AddToScheme(scheme); err != nil {
		return err
	}
	// One kind, so nothing has to be discovered.
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(postgres.SchemeGroupVersion.WithKind("PostgresCluster"), meta.RESTScopeNamespace)
	live, err := client.New(c.config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return err
	}
	first, err := c.read(ctx, live)
	if err != nil {
		return err
	}
	newest := &newest{seen: seen}
	newest.offer(first)
	informers, err := cache.New(c.config, cache.Options{
		Scheme: scheme, Mapper: mapper,
		DefaultNamespaces: map[string]cache.Config{c.name.Namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", c.name.Name)}},
	})
	if err != nil {
		return err
	}
	informer, err := informers.GetInformer(ctx, &postgres.PostgresCluster{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    newest.offer,
		UpdateFunc: func(_, now any) { newest.offer(now) },
	})
	if err != nil {
		return err
	}
	return informers.Start(ctx)
}

// read reads the cluster. It tries until the API server answers.
func (c cluster) read(ctx context.Context, live client.Reader) (*postgres.PostgresCluster, error) {
	found := &postgres.PostgresCluster{}
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		err := live.Get(ctx, c.name, found)
		if err != nil {
			klog.FromContext(ctx).Error(err, "the cluster could not be read; trying again")
		}
		return err == nil, nil
	})
	return found, err
}

// newest lets nothing through that is older than what was there before.
type newest struct {
	version string
	seen    func(postgres.PostgresClusterStatus)
}

func (n *newest) offer(object any) {
	cluster, ok := object.(*postgres.PostgresCluster)
	if !ok {
		return
	}
	if n.version != "" {
		if order, err := resourceversion.CompareResourceVersion(cluster.ResourceVersion, n.version); err != nil || order <= 0 {
			return
		}
	}
	n.version = cluster.ResourceVersion
	n.seen(cluster.Status)
}
