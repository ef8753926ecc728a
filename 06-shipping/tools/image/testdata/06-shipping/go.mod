module example.com/hacking-a-controller/06-shipping

go 1.26.0

require (
	example.com/hacking-a-controller/05-crd-operator v0.0.0
	github.com/spf13/pflag v1.0.10
)

replace example.com/hacking-a-controller/05-crd-operator => ../05-crd-operator
