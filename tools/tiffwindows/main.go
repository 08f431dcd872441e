// Command tiffwindows reads windows of TIFF files with codec/tiff for
// parity/tiff.py.
//
// It reads requests from the standard input until its end. A request is a line:
// image, left, top, width, height, and the file's name. The answer is a line:
// the type of the samples and the SHA-256 of the window's samples, in the
// machine's byte order, or "error:" and the error.
package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg" // JPEG in TIFF
	"github.com/infer-prep/infer-prep/codec/tiff"
	_ "github.com/infer-prep/infer-prep/codec/webp" // WebP in TIFF
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	files := map[string]*tiff.Reader{}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer, err := window(files, in.Text())
		if err != nil {
			answer = "error: " + err.Error()
		}
		fmt.Fprintln(out, answer)
		out.Flush()
	}
}

// window reads the window of a request. The files stay open.
func window(files map[string]*tiff.Reader, line string) (string, error) {
	var n int
	var w codec.Region
	if _, err := fmt.Sscan(line, &n, &w.Left, &w.Top, &w.Width, &w.Height); err != nil {
		return "", err
	}
	fields := strings.SplitN(line, " ", 6)
	if len(fields) < 6 {
		return "", fmt.Errorf("%d fields, want 6", len(fields))
	}
	r := files[fields[5]]
	if r == nil {
		f, err := os.Open(fields[5])
		if err != nil {
			return "", err
		}
		i, err := f.Stat()
		if err != nil {
			return "", err
		}
		if r, err = tiff.NewReader(f, i.Size(), &tiff.Options{Workers: 2}); err != nil {
			return "", err
		}
		files[fields[5]] = r
	}
	image, err := r.Image(0)
	if n > 0 && err == nil {
		var list []*tiff.Image
		if list, err = r.Overviews(0); err == nil && n > len(list) {
			err = fmt.Errorf("overview %d of %d", n, len(list))
		}
		if err == nil {
			image = list[n-1]
		}
	}
	if err != nil {
		return "", err
	}
	size, err := image.Size(w)
	if err != nil {
		return "", err
	}
	dst := make([]byte, size)
	if err := image.Read(dst, w); err != nil {
		return "", err
	}
	f, err := image.Info()
	return fmt.Sprintf("%s %x", f.Type, sha256.Sum256(dst)), err
}
