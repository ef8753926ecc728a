// Clientgo runs the commands of Ats when their time has come. See package clientgo.
package main

import "example.com/hacking-a-controller/05-crd-operator/clientgo"

func main() { clientgo.Main() }
