//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package remote

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// noFollow makes opening a link fail.
const noFollow = syscall.O_NOFOLLOW

// private returns an error unless a file is this user's, has none of the
// forbidden permissions, and, unless it is a folder, has one name.
func private(i fs.FileInfo, forbidden fs.FileMode) error {
	s, ok := i.Sys().(*syscall.Stat_t)
	switch {
	case ok && int(s.Uid) != os.Geteuid():
		return fmt.Errorf("the owner is user %d, want this one, %d", s.Uid, os.Geteuid())
	case i.Mode()&fs.ModeSymlink == 0 && i.Mode()&forbidden != 0:
		return fmt.Errorf("the mode is %v, want none of %v: use chmod, or another folder", i.Mode(), forbidden)
	case ok && i.Mode().IsRegular() && s.Nlink > 1:
		return fmt.Errorf("the file has %d names, want one", s.Nlink)
	}
	return nil
}
