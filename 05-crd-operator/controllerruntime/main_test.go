package controllerruntime

import (
	"testing"

	"example.com/hacking-a-controller/05-crd-operator/internal/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }
