package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/store"
)

// Write two files, list them by a pattern, and read them into one buffer.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for i, text := range []string{"first", "second"} {
		name := filepath.Join(dir, fmt.Sprintf("%d.txt", i))
		if err := store.WriteFile(ctx, store.Local, name, []byte(text)); err != nil {
			panic(err)
		}
	}

	files, err := store.Files(ctx, store.Local, []string{filepath.Join(dir, `\d\.txt`)}, false)
	if err != nil {
		panic(err)
	}
	var buf []byte
	for _, f := range files {
		const limit = 1 << 20 // larger files are an error
		if buf, err = store.ReadFile(ctx, store.Local, f.Name, buf, limit); err != nil {
			panic(err)
		}
		fmt.Println(filepath.Base(f.Name), string(buf))
	}
	// Output:
	// 0.txt first
	// 1.txt second
}
