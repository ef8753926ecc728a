package v1alpha1_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience, pause = 30 * time.Second, 20 * time.Millisecond
