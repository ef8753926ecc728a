package podlog

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func pod(uid, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "coast", Name: "bell", UID: types.UID(uid), ResourceVersion: version}}
}

func TestWhatIsLogged(t *testing.T) {
	for name, tc := range map[string]struct {
		call func(cache.ResourceEventHandler)
		want string
	}{
		"a new pod": {
			func(h cache.ResourceEventHandler) { h.OnAdd(pod("1", "7"), false) },
			"onAdd: coast/bell\n",
		},
		"a pod of the initial list": {
			func(h cache.ResourceEventHandler) { h.OnAdd(pod("1", "7"), true) },
			"onAdd: coast/bell\n",
		},
		"a change": {
			func(h cache.ResourceEventHandler) { h.OnUpdate(pod("1", "7"), pod("1", "8")) },
			"onUpdate: coast/bell\n",
		},
		"a resync": {
			func(h cache.ResourceEventHandler) { h.OnUpdate(pod("1", "7"), pod("1", "7")) },
			"onUpdate: coast/bell (resync: still version 7)\n",
		},
		"a name that came back": {
			func(h cache.ResourceEventHandler) { h.OnUpdate(pod("1", "7"), pod("2", "9")) },
			"onUpdate: coast/bell (another pod of the same name)\n",
		},
		"a deletion": {
			func(h cache.ResourceEventHandler) { h.OnDelete(pod("1", "8")) },
			"onDelete: coast/bell\n",
		},
		"a deletion that the watch missed": {
			func(h cache.ResourceEventHandler) {
				h.OnDelete(cache.DeletedFinalStateUnknown{Key: "coast/bell", Obj: pod("1", "7")})
			},
			"onDelete: coast/bell (tombstone: last seen at version 7)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			tc.call(handlers(&out))
			assert.Equal(t, tc.want, out.String())
		})
	}
}
