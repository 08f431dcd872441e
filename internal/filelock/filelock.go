// Package filelock locks files among processes, where the system can.
package filelock

import "errors"

// ErrLocked is the error of a file that another process has locked.
var ErrLocked = errors.New("in use by another process")
