package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
)

// Error returns err with the path in front, and without the operation and path
// that package os adds; nil stays nil.
func Error(path string, err error) error {
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
	if path = Shown(path); strings.Contains(path, "://") && strings.Contains(err.Error(), path) {
		return err // a store named it
	}
	return fmt.Errorf("%s: %w", path, err)
}

// ErrorOf returns Error of a file error with its own path. Other errors stay as
// they are.
func ErrorOf(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return Error(pe.Path, err)
	}
	return err
}

// Readable returns an error that names the file exactly once.
func Readable(name string, err error) error {
	name = Shown(name)
	if e := ErrorOf(err); e != err {
		return e
	}
	if strings.Contains(err.Error(), name) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Reason strips an error of details that its context repeats: the path of a
// file error, and the step of a decoder's error.
func Reason(err error) error {
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

// Missing is an error that is fs.ErrNotExist.
type Missing string

func (m Missing) Error() string { return string(m) }

func (m Missing) Is(target error) bool { return target == fs.ErrNotExist }

// IsMissing reports whether an error says that a file or folder does not exist.
func IsMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
