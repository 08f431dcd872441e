package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/infer-prep/infer-prep/rng"
)

// shapeNames are the classes that makeShapes draws, in the order of their
// names, which is that of dataset/imagefolder.
var shapeNames = []string{"circle", "cross", "ring", "square", "stripes", "triangle"}

// inside reports whether the point (x, y) belongs to a shape of radius 1.
func inside(shape int, x, y float64) bool {
	r := math.Hypot(x, y)
	switch shapeNames[shape] {
	case "circle":
		return r < 0.9
	case "cross":
		return max(math.Abs(x), math.Abs(y)) < 0.95 && min(math.Abs(x), math.Abs(y)) < 0.25
	case "ring":
		return r < 0.95 && r > 0.55
	case "square":
		return max(math.Abs(x), math.Abs(y)) < 0.8
	case "stripes":
		return max(math.Abs(x), math.Abs(y)) < 0.9 && int(math.Floor((y+1)*2.5))%2 == 0
	default: // triangle
		return y < 0.8 && y > -0.9+2.2*math.Abs(x)
	}
}

// drawShape draws a shape of a random size, place and colour before a noisy
// background. The image is a function of split, class and number alone.
func drawShape(split string, class, number, width, height int) *image.RGBA {
	s := rng.NewKey(1, uint64(class), split).At(uint64(number))
	var fore, back [3]float64
	for { // with a contrast that a person sees
		var difference float64
		for c := range fore {
			fore[c], back[c] = s.Uniform(0, 255), s.Uniform(0, 255)
			difference += math.Abs(fore[c] - back[c])
		}
		if difference > 300 {
			break
		}
	}
	size := float64(min(width, height)) / 2
	r := size * s.Uniform(0.6, 0.9)
	cx := float64(width)/2 + s.Uniform(-1, 1)*(size-r)
	cy := float64(height)/2 + s.Uniform(-1, 1)*(size-r)
	sin, cos := math.Sincos(s.Uniform(-0.25, 0.25))
	im := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			u, v := (float64(x)+0.5-cx)/r, (float64(y)+0.5-cy)/r
			from := &back
			if inside(class, cos*u+sin*v, cos*v-sin*u) {
				from = &fore
			}
			var p [3]uint8
			for c := range p {
				p[c] = uint8(min(255, max(0, from[c]+s.Uniform(-15, 15))))
			}
			im.SetRGBA(x, y, color.RGBA{p[0], p[1], p[2], 255})
		}
	}
	return im
}

// makeShapes writes dir/shapes, a folder of PNG files for training and one for
// testing, and dir/cifar, images of the same classes in CIFAR-10's binary
// format. train and test are the numbers of images of each class.
func makeShapes(dir string, train, test int) error {
	batches := map[string][]byte{"batches.meta.txt": []byte(strings.Join(shapeNames, "\n") + "\n")}
	for _, split := range []struct {
		name  string
		n     int
		files []string
	}{
		{"train", train, []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"}},
		{"test", test, []string{"test_batch.bin"}},
	} {
		record := 0
		for number := range split.n {
			for class, name := range shapeNames {
				folder := filepath.Join(dir, "shapes", split.name, name)
				if err := os.MkdirAll(folder, 0o777); err != nil {
					return err
				}
				size := rng.NewKey(2, uint64(class), split.name).At(uint64(number))
				im := drawShape(split.name, class, number, 36+size.IntN(28), 36+size.IntN(28))
				if err := writePNG(filepath.Join(folder, fmt.Sprintf("%04d.png", number)), im); err != nil {
					return err
				}
				file := split.files[record%len(split.files)]
				batches[file] = append(batches[file], cifarRecord(class, drawShape(split.name+" cifar", class, number, 32, 32))...)
				record++
			}
		}
	}
	folder := filepath.Join(dir, "cifar")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for name, b := range batches {
		if err := replaceFile(filepath.Join(folder, name), b); err != nil {
			return err
		}
	}
	return nil
}

// cifarRecord returns a record of CIFAR-10's binary version: the label, then
// the planes of red, green and blue, 32 x 32 bytes each.
func cifarRecord(class int, im *image.RGBA) []byte {
	b := []byte{byte(class)}
	for c := range 3 {
		for i := c; i < len(im.Pix); i += 4 {
			b = append(b, im.Pix[i])
		}
	}
	return b
}

// writePNG writes a picture to a temporary file and renames it.
func writePNG(path string, im image.Image) error {
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		return err
	}
	return replaceFile(path, b.Bytes())
}

// replaceFile writes a temporary file beside path and renames it, so that a
// kill leaves no half of one.
func replaceFile(path string, b []byte) error {
	if err := os.WriteFile(path+".tmp", b, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}
