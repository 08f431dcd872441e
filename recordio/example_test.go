package recordio_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/store"
)

// writeRecords writes a file with n records.
func writeRecords(name string, n int) error {
	var file bytes.Buffer
	w, err := recordio.NewWriter(&file, 0)
	if err != nil {
		return err
	}
	for i := range n {
		if err := w.Write(fmt.Appendf(nil, "record %d", i)); err != nil {
			return err
		}
	}
	return store.WriteFile(context.Background(), store.Local, name, file.Bytes())
}

// Read the second of two parts of a file. Chunks are read ahead on another
// goroutine, and their memory is reused.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "a.rec")
	if err := writeRecords(name, 6); err != nil {
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

// Write records with an index, and read one of them by its position.
func ExampleStream_Indexed() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, name := context.Background(), filepath.Join(dir, "a.rec")
	var file, index bytes.Buffer
	w, err := recordio.NewIndexedWriter(&file, &index, 0)
	if err != nil {
		panic(err)
	}
	for i := range 3 {
		if err := w.WriteKey(int64(100+i), fmt.Appendf(nil, "record %d", i)); err != nil {
			panic(err)
		}
	}
	if err := store.WriteFile(ctx, store.Local, name, file.Bytes()); err != nil {
		panic(err)
	}

	files, err := store.Files(ctx, store.Local, []string{name}, false)
	if err != nil {
		panic(err)
	}
	stream, err := recordio.NewStream(ctx, store.Local, files, 4)
	if err != nil {
		panic(err)
	}
	defer stream.Close()
	entries, err := recordio.ReadIndex("a.idx", &index)
	if err != nil {
		panic(err)
	}
	in, err := stream.Indexed(entries, recordio.Options{})
	if err != nil {
		panic(err)
	}
	var buf recordio.Buffer
	b, _, err := in.Record(2, &buf)
	if err != nil {
		panic(err)
	}
	fmt.Println(in.Key(2), string(b))
	// Output: 102 record 2
}

// Read a URI as dmlc-core writes it. The second epoch comes from the cache.
func ExampleOpenCached() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "a.rec")
	if err := writeRecords(name, 2); err != nil {
		panic(err)
	}

	uri, err := recordio.ParseURI(name + "?format=recordio#" + filepath.Join(dir, "a.cache"))
	if err != nil {
		panic(err)
	}
	fmt.Println("format:", uri.Args["format"])
	files := strings.Split(uri.Path, ";")
	split, err := recordio.OpenCached(context.Background(), store.Local, files, uri.Cache, recordio.SplitOptions{})
	if err != nil {
		panic(err)
	}
	defer split.Close()
	for epoch := range 2 {
		for {
			b, err := split.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				panic(err)
			}
			fmt.Println("epoch", epoch, string(b))
		}
		if err := split.Reset(); err != nil {
			panic(err)
		}
	}
	// Output:
	// format: recordio
	// epoch 0 record 0
	// epoch 0 record 1
	// epoch 1 record 0
	// epoch 1 record 1
}
