package main

import "os"

// Node and browsers send no other signals.
var ending = []os.Signal{os.Interrupt}
