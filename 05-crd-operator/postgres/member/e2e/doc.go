// Package e2e runs agents as processes, each with a PostgreSQL of its own, against a real API server.
// The tests play the operator, the kubelet and the clients, and kill and freeze the agents.
//
//	env_test.go       a cluster, and what its agents read
//	agent_test.go     the process of an agent
//	operator_test.go  what the operator writes to the status
//	client_test.go    what clients do
//	secrets_test.go   the passwords and certificates, as the kubelet writes them
//	trace_test.go     the real operator, too: such a run is recorded, and compared with the model
//	kubelet_test.go   the kubelet of that
package e2e
