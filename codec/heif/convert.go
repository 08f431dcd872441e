package heif

import (
	"math"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/yuv"
)

// Constants of libheif.
const (
	undefined = 99

	colorspaceYCbCr = 0
	colorspaceRGB   = 1 // what the header says of matrix 0
	colorspaceGray  = 2

	chromaGray = 0
	chroma420  = 1
	chroma422  = 2
	chroma444  = 3
)

// picture is a decoded image of libheif.
type picture struct {
	colorspace, chroma int
	planes             [4]yuv.Plane // Y, Cb, Cr and alpha
	bits               [4]int
	matrix             int // -1 without a colour profile
	full               bool
}

// coefficients convert chroma, centred on 0, to what is added to luma: of Cr
// for red, of Cb and Cr for green, of Cb for blue.
type coefficients struct{ rv, gu, gv, bu float32 }

// coefficientsOf returns libheif's get_YCbCr_to_RGB_coefficients, with every
// product and sum rounded to float32.
func coefficientsOf(matrix int) coefficients {
	var kr, kb float32
	switch matrix {
	case 1:
		kr, kb = 0.2126, 0.0722
	case 5, 6:
		kr, kb = 0.299, 0.114
	case 9:
		kr, kb = 0.2627, 0.0593
	default:
		return coefficients{1.402, -0.344136, -0.714136, 1.772}
	}
	sum := kb + kr - 1
	return coefficients{2 * (1 - kr), float32(2*kb*(1-kb)) / sum, float32(2*kr*(1-kr)) / sum, 2 * (1 - kb)}
}

// rows are the rows at work. They are reused from image to image.
type rows struct {
	luma, alpha []uint16
	chroma      [2][]uint16
	offsets     [][3]int32
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// convert writes the pixels to dst, which has the size of the luma plane.
func (p *picture) convert(dst *codec.Raster, r *rows) {
	w, h := dst.Width, dst.Height
	r.luma, r.alpha = grow(r.luma, w), grow(r.alpha, w)
	size := dst.Mode.Size()
	var line func(out []byte, y int)
	switch {
	case p.colorspace == colorspaceGray && dst.Mode == codec.I16:
		line = func(out []byte, y int) { // pillow-heif moves samples up to 16 bits
			p.planes[0].Row(r.luma, y, 0)
			for x, v := range r.luma {
				v <<= uint(16 - p.bits[0])
				out[2*x], out[2*x+1] = byte(v), byte(v>>8)
			}
		}
	case p.colorspace == colorspaceGray:
		line = func(out []byte, y int) {
			p.planes[0].Row(r.luma, y, uint(p.bits[0]-8))
			for x, v := range r.luma {
				for c := range min(size, 3) {
					out[x*size+c] = uint8(v)
				}
			}
		}
	default:
		for c := range 2 {
			r.chroma[c] = grow(r.chroma[c], p.planes[1].Width)
		}
		switch {
		case p.matrix == 0:
			line = func(out []byte, y int) { p.identity(out, r, y, size) }
		case p.chroma == chroma420 && p.full:
			line = p.integer(r, size)
		default:
			line = p.float(r, size)
		}
	}
	for y := range h {
		out := dst.Pix[y*dst.Stride:][:w*size]
		line(out, y)
		if size == 4 {
			p.planes[3].Row(r.alpha, y, uint(p.bits[3]-8))
			for x, a := range r.alpha {
				out[4*x+3] = uint8(a)
			}
		}
	}
}

// identity writes row y of planes G, B and R, those of matrix 0.
func (p *picture) identity(out []byte, r *rows, y, size int) {
	for i, c := range [3]int{1, 2, 0} {
		p.planes[i].Row(r.luma, y, uint(p.bits[0]-8))
		for x, v := range r.luma {
			out[x*size+c] = uint8(v)
		}
	}
}

// integer converts 4:2:0 in full range, as Op_YCbCr420_to_RGB24: with 8
// fraction bits, after samples are cut to 8 bits.
func (p *picture) integer(r *rows, size int) func(out []byte, y int) {
	k := coefficientsOf(p.matrix)
	round := func(v float32) int32 { return int32(math.Round(float64(256 * v))) }
	rv, gu, gv, bu := round(k.rv), round(k.gu), round(k.gv), round(k.bu)
	shift := uint(p.bits[0] - 8)
	r.offsets = grow(r.offsets, p.planes[1].Width)
	last := -1
	return func(out []byte, y int) {
		p.planes[0].Row(r.luma, y, shift)
		if y/2 != last {
			last = y / 2
			for c := range 2 {
				p.planes[1+c].Row(r.chroma[c], last, shift)
			}
			for i := range r.offsets {
				u, v := int32(r.chroma[0][i])-128, int32(r.chroma[1][i])-128
				r.offsets[i] = [3]int32{(rv*v + 128) >> 8, (gu*u + gv*v + 128) >> 8, (bu*u + 128) >> 8}
			}
		}
		for x, l := range r.luma {
			o, l := &r.offsets[x/2], int32(l)
			q := out[x*size : x*size+3]
			q[0], q[1], q[2] = clip(l+o[0]), clip(l+o[1]), clip(l+o[2])
		}
	}
}

func clip(v int32) uint8 { return uint8(max(0, min(255, v))) }

// float converts all other planes, as Op_YCbCr_to_RGB: in float32, at the
// planes' depth.
func (p *picture) float(r *rows, size int) func(out []byte, y int) {
	k := coefficientsOf(p.matrix)
	shift := uint(p.bits[0] - 8)
	top, half := int32(1)<<p.bits[0]-1, int32(1)<<(p.bits[0]-1)
	off, yg, cg := float32(0), float32(1), float32(1)
	if !p.full {
		off, yg, cg = float32(int(16)<<shift), 1.1689, 1.1429
	}
	sample := func(v float32) uint8 { return uint8(max(0, min(top, int32(v+0.5))) >> shift) }
	wide, tall := uint(0), uint(0)
	if p.chroma != chroma444 {
		wide = 1
	}
	if p.chroma == chroma420 {
		tall = 1
	}
	return func(out []byte, y int) {
		p.planes[0].Row(r.luma, y, 0)
		for c := range 2 {
			p.planes[1+c].Row(r.chroma[c], y>>tall, 0)
		}
		for x, l := range r.luma {
			yv := float32((float32(l) - off) * yg)
			u := float32(float32(int32(r.chroma[0][x>>wide])-half) * cg)
			v := float32(float32(int32(r.chroma[1][x>>wide])-half) * cg)
			q := out[x*size : x*size+3]
			q[0] = sample(yv + float32(k.rv*v))
			q[1] = sample(float32(yv+float32(k.gu*u)) + float32(k.gv*v))
			q[2] = sample(yv + float32(k.bu*u))
		}
	}
}
