// Command jpegencode encodes images with codec/jpeg for parity/encode.py.
//
// It reads requests from the standard input until its end. A request is a line
// of JSON and the pixels, rows of interleaved bytes. The answer is the size of
// the file in decimal, a line feed, and the file.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/tensor"
)

// request is the first line of a request. Chroma is a name and Dialect a number
// of codec/jpeg.
type request struct {
	Width, Height, Channels int
	Options                 jpeg.EncodeOptions
}

func main() {
	if err := run(bufio.NewReader(os.Stdin), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "jpegencode:", err)
		os.Exit(1)
	}
}

func run(in *bufio.Reader, out io.Writer) error {
	var e jpeg.Encoder
	var m tensor.Tensor
	var file []byte
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		} else if err != nil {
			return err
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if err := m.Reset(tensor.Image(tensor.Uint8, tensor.HWC, r.Height, r.Width, r.Channels)); err != nil {
			return err
		}
		if _, err := io.ReadFull(in, m.Data); err != nil {
			return err
		}
		if file, err = e.Encode(file[:0], &m, r.Options); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%d\n%s", len(file), file); err != nil {
			return err
		}
	}
}
