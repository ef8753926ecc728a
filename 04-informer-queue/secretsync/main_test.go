package secretsync

import (
	"testing"

	"example.com/hacking-a-controller/04-informer-queue/internal/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }
