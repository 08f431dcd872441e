// Command gift writes the goldens of the ops gift_*: it runs the filters of
// github.com/disintegration/gift in the version that go.mod pins.
//
// usage: gift TRANSFORMS/TESTDATA
//
// Run it with GOARCH=amd64 and GOAMD64=v1: on other platforms the compiler
// fuses products into sums, and gift returns other bytes. Every run gives the
// same bytes.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/disintegration/gift"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gift: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: gift TRANSFORMS/TESTDATA")
	}
	fused()
	for _, o := range ops {
		if err := write(filepath.Join(os.Args[1], o.name), o); err != nil {
			log.Fatal(err)
		}
	}
}

// fused exits if this platform rounds a product and its sum once.
func fused() {
	a := float32(len(os.Args)) + 1.0/(1<<23)*4 // 2 and its last but one bit
	if a*a-float32(a*a) != 0 {
		log.Fatal("this platform fuses products into sums: want GOARCH=amd64 GOAMD64=v1")
	}
}

// op names an op and lists the parameters of its cases.
type op struct {
	name  string
	cases []params
}

// params is a filter and the JSON form of the op's parameters.
type params struct {
	json   string
	filter gift.Filter
}

// rank returns the cases of a rank filter.
func rank(f func(size int, disk bool) gift.Filter) (l []params) {
	for _, size := range []int{1, 3, 5, 11} {
		for _, disk := range []bool{false, true} {
			l = append(l, params{fmt.Sprintf(`{"size": %d, "disk": %t}`, size, disk), f(size, disk)})
		}
	}
	return l
}

// convolutions returns kernels of 1 x 1 to 7 x 7 with all combinations of the
// other parameters.
func convolutions() (l []params) {
	r := rand.New(rand.NewPCG(3, 4))
	kernels := [][]float32{
		{-1, -1, 0, -1, 1, 1, 0, 1, 1}, {1, 2, 1, 2, 4, 2, 1, 2, 1}, {0.7}, {-1, 0, 1, -2, 0, 2, -1, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0},
	}
	for _, n := range []int{5, 7, 3} {
		k := make([]float32, n*n)
		for i := range k {
			k[i] = float32(r.NormFloat64()) / float32(n)
		}
		kernels = append(kernels, k)
	}
	for i := range 16 {
		k, delta := kernels[i%len(kernels)], []float32{0, 0.25, -1.5}[i%3]
		normalize, alpha, abs := i%2 == 1, i%4 > 1, i%8 > 3
		l = append(l, params{
			fmt.Sprintf(`{"kernel": %s, "normalize": %t, "alpha": %t, "abs": %t, "delta": %v}`, text(k), normalize, alpha, abs, delta),
			gift.Convolution(k, normalize, alpha, abs, delta),
		})
	}
	return l
}

// text returns the JSON form of a value; a float32 has the shortest one.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		log.Fatal(err)
	}
	return string(b)
}

func pixelate() (l []params) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 12, 4096} {
		l = append(l, params{fmt.Sprintf(`{"size": %d}`, n), gift.Pixelate(n)})
	}
	return l
}

func unsharp() (l []params) {
	for _, v := range [][3]float32{{1, 1, 0}, {0.3, 0.5, 0.05}, {2.5, 1.5, 0}, {0.01, 3, 0}, {7, -0.8, 0.01}, {1.2, 100, 0.5}, {0.9, 0, 1}, {4.4, 0.7, 0.001}} {
		l = append(l, params{fmt.Sprintf(`{"sigma": %v, "amount": %v, "threshold": %v}`, v[0], v[1], v[2]), gift.UnsharpMask(v[0], v[1], v[2])})
	}
	return l
}

func sepia() (l []params) {
	for _, v := range []float32{100, 0, 50, 33.3, 1, 80, 12.5, 99} {
		l = append(l, params{fmt.Sprintf(`{"percentage": %v}`, v), gift.Sepia(v)})
	}
	return l
}

func threshold() (l []params) {
	for _, v := range []float32{50, 0, 100, 33.3, 20, 1, 75.5, 99} {
		l = append(l, params{fmt.Sprintf(`{"percentage": %v}`, v), gift.Threshold(v)})
	}
	return l
}

func colorize() (l []params) {
	for _, v := range [][3]float32{
		{240, 50, 100}, {0, 100, 100}, {120, 0, 70}, {-60, 80, 30}, {359.5, 33.3, 99}, {360, 100, 50}, {45, 10, 0}, {-360, 70, 100}, {180, 90, 60}, {301, 100, 1},
	} {
		l = append(l, params{fmt.Sprintf(`{"hue": %v, "saturation": %v, "percentage": %v}`, v[0], v[1], v[2]), gift.Colorize(v[0], v[1], v[2])})
	}
	return l
}

func balance() (l []params) {
	for _, v := range [][3]float32{{0, 0, 0}, {20, -20, 0}, {-100, 500, 33.3}, {1, 2, 3}, {-50, -50, -50}, {100, 100, 100}, {0.1, -0.1, 12.5}, {499, -99, 50}} {
		l = append(l, params{fmt.Sprintf(`{"red": %v, "green": %v, "blue": %v}`, v[0], v[1], v[2]), gift.ColorBalance(v[0], v[1], v[2])})
	}
	return l
}

func gamma() (l []params) {
	for _, v := range []float32{1, 2.2, 0.5, 0.4545, 100, 0.01, 1.8, 3} {
		l = append(l, params{fmt.Sprintf(`{"gamma": %v}`, v), gift.Gamma(v)})
	}
	return l
}

func sigmoid() (l []params) {
	for _, v := range [][2]float32{{0.5, 5}, {0.5, -5}, {0.5, 0}, {0, 3}, {1, -7.5}, {0.3, 1000}, {0.7, -1000}, {0.5, 0.001}, {0.2, -0.001}, {0.9, 10}} {
		l = append(l, params{fmt.Sprintf(`{"midpoint": %v, "factor": %v}`, v[0], v[1]), gift.Sigmoid(v[0], v[1])})
	}
	return l
}

var ops = []op{
	{"gift_color_balance", balance()},
	{"gift_colorize", colorize()},
	{"gift_convolution", convolutions()},
	{"gift_gamma", gamma()},
	{"gift_maximum", rank(gift.Maximum)},
	{"gift_median", rank(gift.Median)},
	{"gift_minimum", rank(gift.Minimum)},
	{"gift_pixelate", pixelate()},
	{"gift_sepia", sepia()},
	{"gift_sigmoid", sigmoid()},
	{"gift_threshold", threshold()},
	{"gift_unsharp_mask", unsharp()},
}

// picture is an image of 1, 3 or 4 channels, HWC.
type picture struct {
	name    string
	h, w, c int
	data    []byte
}

// pictures returns the inputs: noise of several shapes, an opaque image, one
// with edges, and one whose alpha is mostly 0.
func pictures() []picture {
	l := []picture{
		{"dot", 1, 1, 3, nil}, {"row", 1, 13, 1, nil}, {"column", 9, 1, 4, nil}, {"odd", 7, 11, 3, nil}, {"noise", 13, 18, 4, nil},
		{"gray", 9, 14, 1, nil}, {"opaque", 5, 6, 4, nil}, {"edges", 12, 10, 3, nil}, {"clear", 6, 7, 4, nil},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range l {
		p := &l[n]
		p.data = make([]byte, p.h*p.w*p.c)
		for i := range p.data {
			v := byte(r.Uint32())
			switch x, y := i/p.c%p.w, i/p.c/p.w; {
			case p.name == "opaque" && i%4 == 3:
				v = 255
			case p.name == "clear" && i%4 == 3:
				v = v % 8 / 7 * 200
			case p.name == "edges" && (x < 5) != (y < 4):
				v = byte(40 * (i % 3))
			case p.name == "edges" && (x+y)%5 > 0:
				v = byte(250 - 10*(i%3))
			}
			p.data[i] = v
		}
	}
	return l
}

// filtered returns what gift makes of a picture: of an image.Gray with one
// channel, else of an image.NRGBA, which is opaque with three channels.
func filtered(p picture, f gift.Filter) picture {
	r := image.Rect(0, 0, p.w, p.h)
	var src, dst draw.Image
	var in, out []byte
	if p.c == 1 {
		s, d := image.NewGray(r), image.NewGray(r)
		src, dst, in, out = s, d, s.Pix, d.Pix
	} else {
		s, d := image.NewNRGBA(r), image.NewNRGBA(r)
		src, dst, in, out = s, d, s.Pix, d.Pix
	}
	each := len(in) / (p.h * p.w)
	for i := range p.h * p.w {
		copy(in[i*each:][:each], []byte{0, 0, 0, 255})
		copy(in[i*each:], p.data[i*p.c:][:p.c])
	}
	gift.New(f).Draw(dst, src)
	got := p
	got.data = nil
	for i := range p.h * p.w {
		got.data = append(got.data, out[i*each:][:p.c]...)
	}
	return got
}

// tensor returns the picture as a tensor without layout.
func (p picture) tensor(chw bool) *tensor.Tensor {
	shape, data := tensor.Dims(p.h, p.w, p.c), p.data
	if chw {
		shape, data = tensor.Dims(p.c, p.h, p.w), make([]byte, len(p.data))
		for i, v := range p.data {
			data[i%p.c*p.h*p.w+i/p.c] = v
		}
	}
	t, err := tensor.Wrap(tensor.Desc{DType: tensor.Uint8, Shape: shape}, data)
	if err != nil {
		log.Fatal(err)
	}
	return t
}

// golden collects the cases of one op; equal arrays are stored once.
type golden struct {
	arrays []tensor.Named
	names  map[string]string
}

type array struct {
	Array  string `json:"array"`
	Layout string `json:"layout"`
}

func (g *golden) add(t *tensor.Tensor, layout string) []array {
	key := t.Shape.String() + string(t.Data)
	if g.names[key] == "" {
		g.names[key] = "a" + strconv.Itoa(len(g.arrays))
		g.arrays = append(g.arrays, tensor.Named{Name: g.names[key], T: t})
	}
	return []array{{g.names[key], layout}}
}

// write writes cases.json and golden.npz of an op.
func write(dir string, o op) error {
	g := golden{names: map[string]string{}}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"op": %q, "reference": "gift 1.2.1", "cases": [`, o.name)
	for i, k := range o.cases {
		for j, p := range pictures() {
			layout := "HWC"
			if (i+j)%3 == 0 {
				layout = "CHW"
			}
			line, err := json.Marshal(struct {
				Name   string          `json:"name"`
				Params json.RawMessage `json:"params"`
				In     []array         `json:"in"`
				Out    []array         `json:"out"`
			}{
				fmt.Sprintf("%d_%s", i, p.name), json.RawMessage(k.json),
				g.add(p.tensor(layout == "CHW"), layout), g.add(filtered(p, k.filter).tensor(layout == "CHW"), layout),
			})
			if err != nil {
				return err
			}
			if i+j > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n  ")
			b.Write(line)
		}
	}
	b.WriteString("\n]}\n")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "cases.json"), b.Bytes(), 0o666); err != nil {
		return err
	}
	var z bytes.Buffer
	if err := npz.Write(&z, g.arrays); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "golden.npz"), z.Bytes(), 0o666)
}
