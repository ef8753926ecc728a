// Package e2e tests the operators where nothing is faked: a lab of its own, in
// which the kubelet runs pods and the garbage collector collects; the clock of
// this machine; each operator a process of its own, under a user who has its
// role and no other right.
//
// What can be shown on an API server alone is tested beside the code. Here is
// what needs the rest of a cluster.
package e2e
