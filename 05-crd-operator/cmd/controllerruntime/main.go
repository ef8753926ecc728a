// Controllerruntime runs the commands of Ats when their time has come. See package
// controllerruntime.
package main

import "example.com/hacking-a-controller/05-crd-operator/controllerruntime"

func main() { controllerruntime.Main() }
