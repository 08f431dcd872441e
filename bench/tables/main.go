//go:build linux

// Command tables reads the rows of a folder of Arrow streams or of a Parquet
// file for records.py.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	protocol "github.com/infer-prep/infer-prep/bench/internal/peer"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/columnar/arrow"
	"github.com/infer-prep/infer-prep/dataset/columnar/parquet"
	"github.com/infer-prep/infer-prep/store"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "tables: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 || args[0] != "hand" {
		return fmt.Errorf("%q: want hand FILE", args)
	}
	// read reads all rows in order, and opens the files anew.
	read := func(use func([]byte)) (n int, err error) {
		var src dataset.Source = arrow.New(args[1])
		if strings.HasSuffix(args[1], ".parquet") {
			src = parquet.New(args[1])
		}
		d, err := src.Open(context.Background(), store.Local)
		if err != nil {
			return 0, err
		}
		defer d.Close()
		rows, s := d.(dataset.Rows), dataset.NewSample(d.Columns())
		for ; n < int(rows.Len()); n++ {
			if err := rows.Read(context.Background(), int64(n), s); err != nil {
				return n, err
			}
			use(s.Column("data").Data)
		}
		return n, nil
	}
	return protocol.Serve("this commit", protocol.Answers{
		Go: func() (int, error) { return read(func([]byte) {}) },
		Check: func(w io.Writer) error {
			_, err := read(func(b []byte) { _, _ = w.Write(b) }) // a hash never fails
			return err
		},
	})
}
