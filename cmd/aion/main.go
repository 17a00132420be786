// Command aion is the durable workflow server and its command line.
package main

import (
	"os"

	"aion/bootstrap"
)

func main() { os.Exit(bootstrap.Main()) }
