// Broken does not compile.
package main

func main() {
	var number int = "one"
}
