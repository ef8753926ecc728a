package supervisor

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatComponentsDoNotGet(t *testing.T) {
	all := []string{"HTTPS_PROXY=http://proxy:3128", "PATH=/bin", "http_proxy=http://proxy:3128", "HTTP_PROXY_HINT=kept", "ETCD_NAME=another", "ETCD_UNSUPPORTED_ARCH=riscv64"}

	assert.Equal(t, []string{"PATH=/bin", "HTTP_PROXY_HINT=kept", "ETCD_UNSUPPORTED_ARCH=riscv64"}, forComponents(all))
	assert.Equal(t, "HTTPS_PROXY=http://proxy:3128", all[0], "the slice is the caller's")
}
