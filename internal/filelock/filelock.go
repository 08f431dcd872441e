// Package filelock locks files between processes, if the system supports it.
package filelock

import "errors"

// ErrLocked reports a file that another process has locked.
var ErrLocked = errors.New("in use by another process")
