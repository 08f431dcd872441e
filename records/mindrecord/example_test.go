//go:build (darwin && (amd64 || arm64)) || (freebsd && (386 || amd64 || arm || arm64)) || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64 || s390x)) || (openbsd && (amd64 || arm64)) || (netbsd && amd64) || (windows && (386 || amd64 || arm64))

package mindrecord_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/records/mindrecord"
	"github.com/infer-prep/infer-prep/tensor"
)

// schema describes rows of a label and an image. Fields are sorted by name.
var schema = mindrecord.Schema{Fields: []mindrecord.Field{
	{Name: "image", Desc: tensor.Encoded()},
	{Name: "label", Desc: tensor.Desc{DType: tensor.Int64}},
}}

// writeRow writes an image and its label, in the order of the schema.
func writeRow(w *mindrecord.Writer, image string, label int64) {
	number, err := tensor.New(tensor.Desc{DType: tensor.Int64})
	if err != nil {
		panic(err)
	}
	tensor.View[int64](number)[0] = label
	if err := w.Write([]tensor.Tensor{*tensor.FromBytes([]byte(image)), *number}); err != nil {
		panic(err)
	}
}

// printRows prints all rows of a file.
func printRows(name string) {
	set, err := mindrecord.Open([]string{name}, "label", "image")
	if err != nil {
		panic(err)
	}
	defer set.Close()
	var row mindrecord.Row
	for i := range set.Len() {
		if err := set.Read(i, &row); err != nil {
			panic(err)
		}
		label := tensor.View[int64](&row.Values[0])[0]
		fmt.Println(label, string(row.Values[1].Data))
	}
}

// Write a file of images with labels, and read its rows.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "a.mindrecord")

	w, err := mindrecord.Create(name, schema, mindrecord.WriterOptions{})
	if err != nil {
		panic(err)
	}
	writeRow(w, "first image", 3)
	writeRow(w, "second image", 5)
	if err := w.Close(); err != nil {
		panic(err)
	}

	printRows(name)
	// Output:
	// 3 first image
	// 5 second image
}

// Add a row to an existing file. The file changes when the writer is closed.
func ExampleAppend() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "a.mindrecord")
	w, err := mindrecord.Create(name, schema, mindrecord.WriterOptions{})
	if err != nil {
		panic(err)
	}
	writeRow(w, "first image", 3)
	if err := w.Close(); err != nil {
		panic(err)
	}

	w, err = mindrecord.Append(name)
	if err != nil {
		panic(err)
	}
	writeRow(w, "added image", 8)
	if err := w.Close(); err != nil {
		panic(err)
	}

	printRows(name)
	// Output:
	// 3 first image
	// 8 added image
}
