// Webhook refuses new Ats in namespaces that are closed. See package webhook.
package main

import "example.com/hacking-a-controller/05-crd-operator/webhook"

func main() { webhook.Main() }
