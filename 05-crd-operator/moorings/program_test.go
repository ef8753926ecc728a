package main

// Main lets the judge run the program in a process of its own, without compiling it a second time.
var Main = main
