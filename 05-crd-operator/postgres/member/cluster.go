package member

import (
	"context"
	"fmt"
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

// apiCluster is the Cluster that the API server has.
type apiCluster struct {
	config  *rest.Config
	scheme  *runtime.Scheme
	mapper  meta.RESTMapper
	client  client.Client
	cluster types.NamespacedName
}

// NewCluster returns what the pod of a member sees of its cluster.
func NewCluster(config *rest.Config, cluster types.NamespacedName) (Cluster, error) {
	c := &apiCluster{config: config, scheme: runtime.NewScheme(), cluster: cluster}
	if err := postgres.AddToScheme(c.scheme); err != nil {
		return nil, err
	}
	// One kind, so nothing has to be discovered.
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(postgres.SchemeGroupVersion.WithKind("PostgresCluster"), meta.RESTScopeNamespace)
	c.mapper = mapper
	var err error
	c.client, err = client.New(config, client.Options{Scheme: c.scheme, Mapper: mapper})
	return c, err
}

// NewLease returns the Lease of a cluster, which has the cluster's name. The operator makes it.
func NewLease(config *rest.Config, cluster types.NamespacedName, holder types.UID) (resourcelock.Interface, error) {
	leases, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name},
		Client:     leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: string(holder)},
	}, nil
}

// Watch calls seen with each status that is newer than all before it. The first one is read
// live, since a watch may begin with what an API server remembers, which may be old.
func (c *apiCluster) Watch(ctx context.Context, seen func(postgres.PostgresClusterStatus)) error {
	newest := &newest{seen: seen}
	cluster, err := c.read(ctx)
	if err != nil {
		return err
	}
	newest.offer(cluster)
	informers, err := cache.New(c.config, cache.Options{
		Scheme: c.scheme, Mapper: c.mapper,
		DefaultNamespaces: map[string]cache.Config{c.cluster.Namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", c.cluster.Name)}},
	})
	if err != nil {
		return fmt.Errorf("watching the cluster: %w", err)
	}
	informer, err := informers.GetInformer(ctx, &postgres.PostgresCluster{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching the cluster: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    newest.offer,
		UpdateFunc: func(_, now any) { newest.offer(now) },
	})
	if err != nil {
		return fmt.Errorf("watching the cluster: %w", err)
	}
	return informers.Start(ctx)
}

// read reads the cluster. It tries until the API server answers.
func (c *apiCluster) read(ctx context.Context) (*postgres.PostgresCluster, error) {
	cluster := &postgres.PostgresCluster{}
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		err := c.client.Get(ctx, c.cluster, cluster)
		if err != nil {
			klog.FromContext(ctx).Error(err, "the cluster could not be read; trying again")
		}
		return err == nil, nil
	})
	return cluster, err
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
