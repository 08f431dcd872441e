package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/infer-prep/infer-prep/internal/paths"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1   // some inputs failed or were missing, or writing a file failed
	exitUsage       = 2   // an invalid flag or graph
	exitInterrupted = 130 // a shell's status of a process that SIGINT ended
)

// exitError is an error with an exit status. If err is nil, the command has
// printed its messages already.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageErr returns the error of an invalid flag, argument or graph.
func usageErr(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// failErr returns the error of a failure that is not the fault of the command
// line.
func failErr(format string, args ...any) error {
	return &exitError{exitFailed, fmt.Errorf(format, args...)}
}

// wrapFail returns err with the status of a failure; nil stays nil.
func wrapFail(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitFailed, err}
}

// asUsage returns an error with status 2, since status 1 means that tensors
// differ.
func asUsage(err error) error {
	var e *exitError
	if errors.As(err, &e) && e.status == exitFailed && e.err != nil {
		return &exitError{exitUsage, e.err}
	}
	return err
}

// isUsage reports whether err is a usage error.
func isUsage(err error) bool {
	var e *exitError
	return errors.As(err, &e) && e.status == exitUsage
}

// interrupted returns the error of an interrupted command, nil if ctx has not
// ended.
func interrupted(ctx context.Context, what string) error {
	if ctx.Err() == nil {
		return nil
	}
	return &exitError{exitInterrupted, errors.New("interrupted: " + what)}
}

// readable returns an error that names the file exactly once.
func readable(name string, err error) error {
	if errors.Is(err, errExists) { // it names the output
		return err
	}
	return paths.Readable(name, err)
}

// flatten lists the errors that errors.Join joined.
func flatten(err error) (l []error) {
	if err == nil {
		return nil
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		if joined := j.Unwrap(); errors.Join(joined...).Error() == err.Error() {
			for _, e := range joined {
				l = append(l, flatten(e)...)
			}
			return l
		}
	}
	return []error{err}
}

// diskFull reports whether err would also happen to every later image.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// noImages returns the error of a command that found no image.
func noImages(failed, skipped int) error {
	msg := "no images found"
	if failed > 0 {
		msg = fmt.Sprintf("no images found; %s failed", plural(failed, "input"))
	}
	if skipped > 0 {
		msg += fmt.Sprintf(", %s skipped", plural(skipped, "file"))
	}
	return failErr("%s", msg)
}
