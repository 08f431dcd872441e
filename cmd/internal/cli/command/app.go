// Package command holds what the commands of infer-prep share: the program, its
// messages, flags, tables and exit statuses.
package command

import (
	"io"
	"time"

	"github.com/spf13/cobra"
)

// Program is the name that starts every message, and the commands that messages
// name. Set it before Run.
var Program = "infer-prep"

// App holds what the commands share.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Args           []string            // without the program's name
	Command        *cobra.Command      // that is running
	TestDelay      func()              // for tests: called before each image is written
	BenchTime      time.Duration       // for tests: the longest time of bench
	TestWidth      int                 // for tests: standard error is a terminal of this width
	TestTerminal   bool                // for tests: output is a terminal that shows styles
	Before         StoreStats          // of the time when the command began
	Color          string              // the value of --color
	Plugins        []string            // the values of --allow-plugin
	Getenv         func(string) string // for tests; nil means os.Getenv
}
