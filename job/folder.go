package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/store"
)

// newSeries refuses a folder with numbered files of an earlier run, or removes
// them if force is true: the new series could be shorter. Their names consist
// of prefix, digits and, if ext is not empty, one of its extensions.
func newSeries(ctx context.Context, dir, prefix string, force bool, ext ...string) error {
	entries, err := store.ListNames(ctx, store.URI, paths.StoreName(dir))
	if paths.IsURI(dir) && paths.IsMissing(err) {
		err = nil // a store creates folders with their first file
	}
	if err != nil {
		return fmt.Errorf("cannot read the output folder: %w", paths.Error(dir, err))
	}
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Base, prefix)
		rest := strings.TrimLeft(name, "0123456789")
		if !ok || rest == name || rest != "" && rest[0] != '.' || len(ext) > 0 && !slices.Contains(ext, rest) {
			continue
		}
		path := paths.Join(dir, e.Base)
		if paths.IsURI(dir) {
			return fmt.Errorf("%s is from an earlier run, and files of a store are not removed: want another folder", path)
		}
		if !force {
			return advice("%s is from an earlier run: want another folder, or %s to remove it and all others like it", path, fieldForce)
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("cannot remove %w", paths.Error(path, err))
		}
	}
	return nil
}

// readyStore checks that a folder of a store can hold new files, as far as that
// is known without creating one.
func readyStore(ctx context.Context, dir string) error {
	f, err := store.URI.Create(ctx, paths.Join(dir, newfile.RunPrefix+"check"+newfile.Suffix))
	if err == nil {
		err = f.Abort()
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return option("%s: the store is only read: want a folder, or a URI of a store that takes files", fieldDir.of(dir))
	}
	if err != nil {
		return fmt.Errorf("cannot write to the output folder: %w", paths.Error(dir, err))
	}
	return nil
}

// readyFolder creates an output folder and checks that it is writable. fold
// reports whether its file system ignores case.
func readyFolder(ctx context.Context, dir string) (fold bool, err error) {
	if paths.IsURI(dir) {
		return false, readyStore(ctx, dir)
	}
	if err = os.MkdirAll(dir, 0o777); err == nil {
		var temp string
		if temp, err = newfile.WriteTemp(dir, newfile.RunPrefix, func(io.Writer) error { return nil }); err == nil {
			_, upper := os.Lstat(filepath.Join(dir, strings.ToUpper(filepath.Base(temp))))
			fold = upper == nil
			err = os.Remove(temp)
		}
	}
	if err != nil {
		return false, fmt.Errorf("cannot write to the output folder: %w", paths.Error(dir, err))
	}
	return fold, nil
}
