package v1alpha1_test

import (
	"testing"
	"time"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

const pause = 20 * time.Millisecond
