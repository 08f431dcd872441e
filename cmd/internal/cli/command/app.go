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
	OnItem         func()              // called when an image, record or batch is ready, before it is written; optional
	BenchTime      time.Duration       // the longest time of bench; 0 means its own
	Width          int                 // of the terminal of standard error; 0 means to ask the system
	Styles         bool                // output gets styles as on a terminal
	Before         StoreStats          // of the time when the command began
	Color          string              // the value of --color
	Plugins        []string            // the values of --allow-plugin
	Getenv         func(string) string // nil means os.Getenv
}
