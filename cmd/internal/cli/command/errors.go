package command

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/infer-prep/infer-prep/internal/paths"
)

// Exit statuses.
const (
	ExitOK          = 0
	ExitFailed      = 1   // some inputs failed or were missing, or writing a file failed
	ExitUsage       = 2   // an invalid flag or graph
	ExitInterrupted = 130 // a shell's status of a process that SIGINT ended
)

// ExitError is an error with an exit status. If err is nil, the command has
// printed its messages already.
type ExitError struct {
	Status int
	Err    error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// UsageErr returns the error of an invalid flag, argument or graph.
func UsageErr(format string, args ...any) error {
	return &ExitError{Status: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// FailErr returns the error of a failure that is not the fault of the command
// line.
func FailErr(format string, args ...any) error {
	return &ExitError{Status: ExitFailed, Err: fmt.Errorf(format, args...)}
}

// WrapFail returns err with the status of a failure; nil stays nil.
//
//go:noinline
func WrapFail(err error) error {
	if err == nil {
		return nil
	}
	return &ExitError{Status: ExitFailed, Err: err}
}

// AsUsage returns an error with status 2, since status 1 means that tensors
// differ.
func AsUsage(err error) error {
	var e *ExitError
	if errors.As(err, &e) && e.Status == ExitFailed && e.Err != nil {
		return &ExitError{Status: ExitUsage, Err: e.Err}
	}
	return err
}

// IsUsage reports whether err is a usage error.
func IsUsage(err error) bool {
	var e *ExitError
	return errors.As(err, &e) && e.Status == ExitUsage
}

// Interrupted returns the error of an interrupted command, nil if ctx has not
// ended.
func Interrupted(ctx context.Context, what string) error {
	if ctx.Err() == nil {
		return nil
	}
	return &ExitError{Status: ExitInterrupted, Err: errors.New("interrupted: " + what)}
}

// Readable returns an error that names the file exactly once.
func Readable(name string, err error) error {
	if errors.Is(err, ErrExists) { // it names the output
		return err
	}
	return paths.Readable(name, err)
}

// Flatten lists the errors that errors.Join joined.
func Flatten(err error) (l []error) {
	if err == nil {
		return nil
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		if joined := j.Unwrap(); errors.Join(joined...).Error() == err.Error() {
			for _, e := range joined {
				l = append(l, Flatten(e)...)
			}
			return l
		}
	}
	return []error{err}
}

// DiskFull reports whether err would also happen to every later image.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// NoImages returns the error of a command that found no image, or no other
// input that the noun names.
func NoImages(noun string, failed, skipped int) error {
	msg := fmt.Sprintf("no %ss found", noun)
	if failed > 0 {
		msg += fmt.Sprintf("; %s failed", Plural(failed, "input"))
	}
	if skipped > 0 {
		msg += fmt.Sprintf(", %s skipped", Plural(skipped, "file"))
	}
	return FailErr("%s", msg)
}

// ErrExists reports an output file that exists.
var ErrExists = errors.New("the file exists; --force replaces it")
