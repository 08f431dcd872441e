package job

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/infer-prep/infer-prep/internal/filelock"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
)

// leftoverAge is the age from which a temporary file is removed if locks do not
// work.
const leftoverAge = 24 * time.Hour

// enter marks the output folder dir as used by this run until release is
// called. If no other run uses it, enter removes the temporary files that a
// killed run left there.
//
// Runs share a lock of the folder, and the one that finds it free holds it
// alone for as long as it removes files. Where folders cannot be locked (on
// Windows and some network disks), enter removes only files of leftoverAge.
func enter(dir string) (release func()) {
	if paths.IsURI(dir) { // a store has no temporary files
		return func() {}
	}
	_ = os.MkdirAll(dir, 0o777) // ready reports the error
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	switch err := filelock.TryLock(f); {
	case err == filelock.ErrLocked:
	case err == nil && filelock.Works:
		removeTemps(dir, 0)
	default:
		removeTemps(dir, leftoverAge)
	}
	_ = filelock.Share(f) // without a lock, the rule of leftoverAge holds
	return func() { f.Close() }
}

// removeTemps removes temporary files of at least an age below dir. What cannot
// be removed stays: it is not taken for an image or a tensor.
func removeTemps(dir string, age time.Duration) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(1 << 10) // unsorted, which is faster
		for _, e := range entries {
			switch {
			case e.IsDir():
				removeTemps(filepath.Join(dir, e.Name()), age)
			case strings.HasPrefix(e.Name(), newfile.RunPrefix) && newfile.IsTemp(e.Name()):
				if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= age {
					_ = os.Remove(filepath.Join(dir, e.Name()))
				}
			}
		}
		if err != nil {
			return
		}
	}
}
