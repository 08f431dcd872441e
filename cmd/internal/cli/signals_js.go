package cli

import "os"

// Node and browsers send no other signals.
var ending, ignored = []os.Signal{os.Interrupt}, []os.Signal(nil)
