package httpstore

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
)

// BenchmarkSequential reads a file of 128 MiB in order, in steps of 64 KiB:
// from the local disk, and from a server of net/http on the same machine.
func BenchmarkSequential(b *testing.B) {
	dir := b.TempDir()
	const size = 128 << 20
	if err := os.WriteFile(filepath.Join(dir, "a"), make([]byte, size), 0o600); err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for name, c := range map[string]struct {
		o    store.Opener
		name string
	}{
		"local": {store.Local, filepath.Join(dir, "a")}, "http": {New(remote.Options{}), server.URL + "/a"},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			buf := make([]byte, 64<<10)
			for b.Loop() {
				f, err := c.o.Open(b.Context(), c.name)
				if err != nil {
					b.Fatal(err)
				}
				r := io.NewSectionReader(f, 0, f.Size())
				for {
					if _, err := io.ReadFull(r, buf); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
