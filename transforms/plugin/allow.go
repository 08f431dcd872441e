package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/infer-prep/infer-prep/internal/clib"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// allowed holds the libraries that the program has allowed, by name.
var (
	allowedMu sync.RWMutex
	allowed   = map[string]*library{}
)

// Allow loads the library in the file at path and lets graphs use it under a
// name of the characters a-z, 0-9, _ and -. Loading a library runs its
// initialization code. The library stays loaded until the process ends.
//
// A file that is not a library of this interface is an error that wraps
// ErrLibrary. Allowing the same file under its name again has no effect;
// another file is an error. Allow is safe for concurrent use.
func Allow(name, path string) error {
	if err := allow(name, path); err != nil {
		return fmt.Errorf("plugin: allow %q: %w", name, err)
	}
	return nil
}

func allow(name, path string) error {
	if !clib.Supported {
		return clib.Unsupported("plugins")
	}
	if err := checkLibrary(name); err != nil {
		return err
	}
	path, err := filepath.Abs(path) // the system's loader searches for a bare name
	if err != nil {
		return err
	}
	digest, err := digestOf(path)
	if err != nil {
		return err
	}
	allowedMu.Lock()
	defer allowedMu.Unlock()
	if l := allowed[name]; l != nil {
		if l.path != path || l.digest != digest {
			return fmt.Errorf("%s (SHA-256 %s): the name already stands for %s (SHA-256 %s)", path, digest, l.path, l.digest)
		}
		return nil
	}
	l, err := load(name, path, digest)
	if err != nil {
		return err
	}
	allowed[name] = l
	return nil
}

// digestOf returns the SHA-256 of a regular file in hexadecimal digits.
func digestOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // reading a pipe may block
		return "", fmt.Errorf("%w: %s: want a regular file", ErrLibrary, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// lookup returns an allowed library.
func lookup(name string) (*library, error) {
	if !clib.Supported {
		return nil, fmt.Errorf("plugin: %w", clib.Unsupported("plugins"))
	}
	allowedMu.RLock()
	defer allowedMu.RUnlock()
	if l := allowed[name]; l != nil {
		return l, nil
	}
	var names []string
	for n := range allowed {
		names = append(names, n)
	}
	return nil, fmt.Errorf("plugin: library %q: %w%s; a program allows it with plugin.Allow, the command with --allow-plugin %[1]s=PATH",
		name, ErrNotAllowed, registry.DidYouMean(name, names))
}
