// Package files reads whole files into samples.
package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/dataset"
)

// Limit is the size above which a file is refused: no image that decoders take
// (100 megapixels) is as large.
const Limit = 1 << 30

// Read makes v the bytes of the file name, with slashes, below dir.
func Read(v *dataset.Value, dir, name string) error {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil {
		return err
	}
	if i.Size() > Limit {
		return fmt.Errorf("%w: %s has %d bytes, want at most %d", dataset.ErrData, f.Name(), i.Size(), Limit)
	}
	if _, err := io.ReadFull(f, v.Bytes(int(i.Size()))); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return nil
}
