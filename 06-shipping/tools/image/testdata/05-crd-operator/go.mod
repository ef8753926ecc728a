module example.com/hacking-a-controller/05-crd-operator

go 1.26.0
