package controllerruntime

import (
	"testing"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }
