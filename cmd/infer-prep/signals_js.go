package main

import "os"

// Node and browsers send no others.
var ending, ignored = []os.Signal{os.Interrupt}, []os.Signal(nil)
