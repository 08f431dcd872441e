package recordio_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/store"
)

// One part of a file's records, with chunks of them read ahead, and their memory used again.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var file bytes.Buffer
	w, _ := recordio.NewWriter(&file, 0)
	for i := range 6 {
		if err := w.Write(fmt.Appendf(nil, "record %d", i)); err != nil {
			panic(err)
		}
	}
	name := filepath.Join(dir, "a.rec")
	if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
		panic(err)
	}

	split, err := recordio.OpenSplit(context.Background(), store.Local, []string{name}, recordio.SplitOptions{Part: 1, Parts: 2})
	if err != nil {
		panic(err)
	}
	defer split.Close()
	ahead := recordio.NewPrefetch(2, split.NextChunk, nil)
	defer ahead.Close()
	for {
		chunk, err := ahead.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(err)
		}
		for in := chunk.Records(); ; {
			b, err := in.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				panic(err)
			}
			fmt.Println(string(b), "at", in.Offset())
		}
		ahead.Recycle(chunk)
	}
	// Output:
	// record 3 at 48
	// record 4 at 64
	// record 5 at 80
}
