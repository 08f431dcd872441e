// Command procedural writes images of several sizes and formats into a folder,
// for tests of many small files. Equal flags give equal files.
//
// The images lie in 10 folders, which serve as classes. By default 1 % of the
// files are damaged: truncated, of another format than their name says, empty,
// or without an image.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/color/palette"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/tensor"
)

func main() {
	count := flag.Int("count", 1000, "number of files")
	bad := flag.Int("bad", 100, "one file in so many is damaged; 0: none")
	seed := flag.Uint64("seed", 1, "seed of the images")
	largest := flag.Int("largest", 96, "longest edge in pixels, at least 16")
	flag.Parse()
	if flag.NArg() != 1 || *count < 0 || *bad < 0 || *largest < 16 {
		fmt.Fprintln(os.Stderr, "usage: procedural [-count N] [-bad N] [-seed N] [-largest N] DIR")
		os.Exit(2)
	}
	if err := write(flag.Arg(0), *count, *bad, *seed, *largest); err != nil {
		fmt.Fprintln(os.Stderr, "procedural:", err)
		os.Exit(1)
	}
}

func write(dir string, count, bad int, seed uint64, largest int) error {
	const classes = 10
	for c := range min(classes, count) {
		if err := os.MkdirAll(folder(dir, c), 0o777); err != nil {
			return err
		}
	}
	for i := range count {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		b, ext, err := encode(draw(r, largest), r)
		if err != nil {
			return fmt.Errorf("image %d: %w", i, err)
		}
		if bad > 0 && i%bad == bad/2 {
			b = damage(b, i/bad)
		}
		name := filepath.Join(folder(dir, r.IntN(classes)), fmt.Sprintf("image-%06d.%s", i, ext))
		if i < classes { // no class is empty
			name = filepath.Join(folder(dir, i), filepath.Base(name))
		}
		if err := os.WriteFile(name, b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func folder(dir string, class int) string {
	return filepath.Join(dir, fmt.Sprintf("class-%d", class))
}

// draw returns a gradient with rectangles and noise.
func draw(r *rand.Rand, largest int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, 16+r.IntN(largest-15), 16+r.IntN(largest-15)))
	w, h := m.Rect.Dx(), m.Rect.Dy()
	base, noise := r.Uint32(), 1+r.IntN(24)
	for y := range h {
		for x := range w {
			n := r.IntN(noise)
			m.SetRGBA(x, y, color.RGBA{
				uint8(min(255, int(base&127)+x*127/w+n)), uint8(min(255, int(base>>8&127)+y*127/h+n)), uint8(min(255, int(base>>16&127)+(x+y)*127/(w+h)+n)), 255,
			})
		}
	}
	for range r.IntN(5) {
		c := color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255}
		x0, y0 := r.IntN(w), r.IntN(h)
		for y := y0; y < min(h, y0+1+h/3); y++ {
			for x := x0; x < min(w, x0+1+w/3); x++ {
				m.SetRGBA(x, y, c)
			}
		}
	}
	return m
}

// encode encodes an image in a format of its own: two in three are JPEG.
func encode(m *image.RGBA, r *rand.Rand) ([]byte, string, error) {
	var out bytes.Buffer
	switch r.IntN(12) {
	case 0:
		err := png.Encode(&out, m)
		return out.Bytes(), "png", err
	case 1: // with a palette
		p := image.NewPaletted(m.Rect, palette.WebSafe)
		for y := range m.Rect.Dy() {
			for x := range m.Rect.Dx() {
				p.Set(x, y, m.RGBAAt(x, y))
			}
		}
		err := png.Encode(&out, p)
		return out.Bytes(), "png", err
	case 2: // with alpha
		p := image.NewNRGBA(m.Rect)
		for y := range m.Rect.Dy() {
			for x := range m.Rect.Dx() {
				c := m.RGBAAt(x, y)
				p.SetNRGBA(x, y, color.NRGBA{c.R, c.G, c.B, uint8(255 - x%128)})
			}
		}
		err := png.Encode(&out, p)
		return out.Bytes(), "png", err
	case 3:
		if r.IntN(2) == 0 {
			err := bmp.Encode(&out, m)
			return out.Bytes(), "bmp", err
		}
		err := tiff.Encode(&out, m, nil)
		return out.Bytes(), "tiff", err
	}
	channels := 3
	o := jpeg.EncodeOptions{Quality: 40 + r.IntN(60), Chroma: []jpeg.Chroma{jpeg.Chroma420, jpeg.Chroma420, jpeg.Chroma422, jpeg.Chroma444}[r.IntN(4)]}
	if r.IntN(8) == 0 {
		channels, o.Chroma = 1, jpeg.ChromaDefault
	}
	t, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, m.Rect.Dy(), m.Rect.Dx(), channels))
	if err != nil {
		return nil, "", err
	}
	for i := range m.Rect.Dx() * m.Rect.Dy() {
		copy(t.Data[i*channels:][:channels], m.Pix[4*i:])
	}
	b, err := jpeg.Encode(nil, t, o)
	return b, "jpg", err
}

// damage returns a file that is not a whole image.
func damage(b []byte, i int) []byte {
	switch i % 4 {
	case 0:
		return b[:len(b)/2]
	case 1:
		return []byte("<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n")
	case 2:
		return nil
	}
	return bytes.Repeat([]byte{0xff, 0xd8, 0xff, 0xe0}, 20)
}
