// Command jpegencode encodes images and rewrites JPEG files with codec/jpeg for
// parity/encode.py.
//
// It reads requests from the standard input until its end. A request is a line
// of JSON and the pixels, rows of interleaved bytes, or a file to rewrite. The
// answer is the size of the file in decimal, a line feed, and the file. A file
// that cannot be rewritten has the size 0.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/tensor"
)

// request is the first line of a request. Chroma is a name and Dialect a number
// of codec/jpeg. Rewrite is the size of a file to rewrite, else 0.
type request struct {
	Width, Height, Channels int
	Options                 jpeg.EncodeOptions
	Rewrite                 int
}

func main() {
	if err := run(bufio.NewReader(os.Stdin), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "jpegencode:", err)
		os.Exit(1)
	}
}

func run(in *bufio.Reader, out io.Writer) error {
	var e jpeg.Encoder
	var w jpeg.Rewriter
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
		if r.Rewrite > 0 {
			source := make([]byte, r.Rewrite)
			if _, err := io.ReadFull(in, source); err != nil {
				return err
			}
			file, err = w.Rewrite(file[:0], source, codec.Limits{})
			if errors.Is(err, codec.ErrUnsupported) {
				fmt.Fprintln(os.Stderr, "jpegencode:", err)
			} else if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(out, "%d\n%s", len(file), file); err != nil {
				return err
			}
			continue
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
