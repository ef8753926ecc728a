module example.com/hacking-a-controller/testcluster

go 1.26.0
