package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/infer-prep/infer-prep/codec"
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

// plain returns err with the path in front, and without the operation and path
// that package os adds; nil stays nil.
func plain(path string, err error) error {
	if err == nil {
		return nil
	}
	var pe *os.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	if path = shown(path); strings.Contains(path, "://") && strings.Contains(err.Error(), path) {
		return err // a store named it
	}
	return fmt.Errorf("%s: %w", path, err)
}

// ofFile returns plain of a file error with its own path. Other errors stay as
// they are.
func ofFile(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return plain(pe.Path, err)
	}
	return err
}

// ofInput returns an error of an image or of its outputs, with the image's path
// in front. at is a kind of error, "" if it is unknown.
func ofInput(in *input, at string, err error) error {
	err = message(err)
	switch {
	case in.uri == "":
	case isMissing(err) && at == kindRead:
		return missing(in.path + ": no such file or folder")
	case strings.Contains(err.Error(), in.path): // a store named it
		return err
	}
	return fmt.Errorf("%s: %w", in.path, err)
}

// readable returns an error that names the file exactly once.
func readable(name string, err error) error {
	name = shown(name)
	if plain := ofFile(err); plain != err {
		return plain
	}
	if errors.Is(err, errExists) || strings.Contains(err.Error(), name) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// message strips an error of details that its context repeats: the path of a
// file error, and the step of a decoder's error.
func message(err error) error {
	var pe *fs.PathError
	var ce *codec.Error
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &ce):
		return ce
	}
	return err
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
