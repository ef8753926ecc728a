// Package bench measures the operators, the two forms of one side by side,
// against a real API server on which pods are only objects:
//
//	go test -run '^$' -bench . ./bench
//
//	writes_test.go       what one At costs the server, from its creation to DONE
//	own_writes_test.go   reads that wait for what was written before them
//	burst_test.go        many Ats that are due at the same instant
//	idle_test.go         many Ats that are due tomorrow
//	drift_test.go        how soon settings undoes what others do
//
// AT_BENCH=50,500,1000 is smaller: so many Ats in the first, second and third.
package bench
