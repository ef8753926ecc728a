// Settings merges the SettingsLayers of each namespace into a ConfigMap, and keeps it
// as it should be. See package settings.
package main

import "example.com/hacking-a-controller/05-crd-operator/settings"

func main() { settings.Main() }
