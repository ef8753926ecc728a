// Package e2e runs PostgresClusters where nothing is faked: in a lab whose pods run the image of
// make postgres, with an operator that is a process of its own and has the rights in config/rbac,
// and no others.
//
//	main_test.go       the program, which is the operator, too
//	lab_test.go        the lab, one for all tests
//	env_test.go        a namespace with a PostgresCluster and its operator
//	operator_test.go   the process that is the operator
//	state_test.go      what a cluster should be like
//	end_test.go        its end
//	process_test.go    what runs in a pod
//	client_test.go     connections of clients
//	writer_test.go     a client that never stops, and knows what was acknowledged
//	rows_test.go       whether all of that is there
//	watcher_test.go    whether two members ever took writes at the same time
//	histories_test.go  clients, whose histories are judged
//	faults_test.go     what goes wrong, at random
//	faulty_test.go     how
//	disasters_test.go  what costs data, and what comes after it
//	lifecycle_test.go  what people do
//	secrets_test.go    the passwords, and whether connections are encrypted
//	loss_test.go       when no disk with every acknowledged commit is left
//	bench_test.go      how long clients wait
package e2e
