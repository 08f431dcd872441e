//go:build linux

// Command gopeers runs Go's image/jpeg and gen2brain/jpegli for bench.py.
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/gen2brain/jpegli"

	"github.com/infer-prep/infer-prep/bench/internal/peer"
)

func main() {
	libraries := map[string]struct {
		decode  func(io.Reader) (image.Image, error)
		version string
	}{
		"image/jpeg": {jpeg.Decode, runtime.Version()},
		"jpegli":     {jpegli.Decode, version("github.com/gen2brain/jpegli")},
	}
	if len(os.Args) < 2 || libraries[os.Args[1]].decode == nil {
		fmt.Fprintln(os.Stderr, "gopeers: want image/jpeg or jpegli, then CASE DIR")
		os.Exit(1)
	}
	l := libraries[os.Args[1]]
	os.Args = append(os.Args[:1], os.Args[2:]...)
	peer.Main(l.version, map[string]peer.Case{"decode": decodeCase(l.decode)})
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return "unknown"
}

// decodeCase decodes to 8-bit RGBA, the closest type to RGB in package image;
// image/draw has a fast path for it from YCbCr.
func decodeCase(decode func(io.Reader) (image.Image, error)) peer.Case {
	return func(images [][]byte, _ []byte) (func(int) ([]byte, error), error) {
		var rgba image.RGBA
		return func(i int) ([]byte, error) {
			m, err := decode(bytes.NewReader(images[i]))
			if err != nil {
				return nil, err
			}
			b := m.Bounds()
			if n := 4 * b.Dx() * b.Dy(); cap(rgba.Pix) < n {
				rgba.Pix = make([]byte, n)
			} else {
				rgba.Pix = rgba.Pix[:n]
			}
			rgba.Stride, rgba.Rect = 4*b.Dx(), b
			draw.Draw(&rgba, b, m, b.Min, draw.Src)
			return rgba.Pix, nil
		}, nil
	}
}
