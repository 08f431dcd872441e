package store

import (
	"errors"
	"io/fs"
	"os"
)

// OpenRegular opens a regular file of the local disk for reading. It follows
// links. Anything else, such as a folder, a named pipe or a device, is an error
// that states what it is, and is not opened: opening a pipe waits for its
// writer, and opening a device can act on it.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	return openRegular(path, os.Stat, func(path string) (*os.File, error) { return os.OpenFile(path, openFlags, 0) })
}

// openRegular is OpenRegular with the functions of a root.
func openRegular(path string, stat func(string) (fs.FileInfo, error), open func(string) (*os.File, error)) (*os.File, fs.FileInfo, error) {
	i, err := stat(path)
	if err == nil {
		err = regular("open", path, i)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	if i, err = f.Stat(); err == nil { // another file since Stat
		err = regular("open", path, i)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, i, nil
}

// regular returns an error unless i describes a regular file.
func regular(op, path string, i fs.FileInfo) error {
	var is string
	switch m := i.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		is = "is a folder"
	case m&fs.ModeNamedPipe != 0:
		is = "is a named pipe"
	case m&fs.ModeSocket != 0:
		is = "is a socket"
	case m&fs.ModeDevice != 0:
		is = "is a device"
	default:
		is = "is not a regular file"
	}
	return &fs.PathError{Op: op, Path: path, Err: errors.New(is + ": want a regular file")}
}
