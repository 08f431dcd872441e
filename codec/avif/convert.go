package avif

import (
	"strconv"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/yuv"
)

// The pixel formats of libavif.
const (
	yuv444 = 1 + iota
	yuv422
	yuv420
	yuv400
)

// picture is an image of libavif.
type picture struct {
	width, height, depth int
	format               uint32
	matrix               int
	full                 bool
	alpha, premultiplied bool
	frames               int
	orientation          int
	exif, xmp            []byte
	planes               [3]yuv.Plane
	alphaPlane           yuv.Plane
}

// chroma returns the size of the chroma planes.
func (p *picture) chroma() (w, h int) {
	w, h = p.width, p.height
	if p.format != yuv444 {
		w = (w + 1) / 2
	}
	if p.format == yuv420 {
		h = (h + 1) / 2
	}
	return w, h
}

// mode returns Pillow's mode.
func (p *picture) mode() codec.Mode {
	switch {
	case p.alpha:
		return codec.RGBA
	case p.format == yuv400:
		return codec.L
	}
	return codec.RGB
}

func (p *picture) variant() string {
	s := [...]string{"?", "4:4:4", "4:2:2", "4:2:0", "4:0:0"}[min(p.format, yuv400)] + " " + strconv.Itoa(p.depth) + "-bit"
	if p.full {
		return s + " full range"
	}
	return s + " limited range"
}

// complete reports whether all planes are there.
func (p *picture) complete() bool {
	return !p.planes[0].Empty() && (p.format == yuv400 || !p.planes[1].Empty() && !p.planes[2].Empty()) && (!p.alpha || !p.alphaPlane.Empty())
}

// coefficients are libyuv's YuvConstants with 6 fraction bits: of luma and its
// bias, of U for blue and green, of V for green and red.
type coefficients struct{ yg, yb, ub, ug, vg, vr int32 }

// coefficientsOf returns those of a matrix: 0 (limited) and 1 (full).
func coefficientsOf(matrix int, full bool) *coefficients {
	i := 0
	if full {
		i = 1
	}
	switch matrix {
	case 1:
		return &bt709[i]
	case 9:
		return &bt2020[i]
	}
	return &bt601[i]
}

var (
	bt601  = [2]coefficients{{18997, -1160, 128, 25, 52, 102}, {16320, 32, 113, 22, 46, 90}}
	bt709  = [2]coefficients{{18997, -1160, 128, 14, 34, 115}, {16320, 32, 119, 12, 30, 101}}
	bt2020 = [2]coefficients{{19003, -1160, 128, 12, 42, 107}, {16320, 32, 120, 11, 37, 94}}
)

// rows are the rows at work. They are reused from image to image.
type rows struct {
	luma, alpha []uint16
	near, far   [2][]uint16 // chroma as stored
	chroma      [2][]uint16 // of each pixel
}

func grow(s []uint16, n int) []uint16 {
	if cap(s) < n {
		return make([]uint16, n)
	}
	return s[:n]
}

// convert writes the pixels to dst, which has the picture's size and mode.
func (p *picture) convert(dst *codec.Raster, r *rows) {
	w := p.width
	r.luma, r.alpha = grow(r.luma, w), grow(r.alpha, w)
	if p.format == yuv400 {
		p.gray(dst, r)
		return
	}
	cw, _ := p.chroma()
	for c := range 2 {
		r.near[c], r.far[c], r.chroma[c] = grow(r.near[c], cw), grow(r.far[c], cw), grow(r.chroma[c], w)
	}
	// libavif shifts planes of more than 8 bits down, before or after chroma is
	// upsampled, or not at all.
	deep := p.depth - 8
	before, after, widen := uint(deep), uint(0), uint(0)
	nearest := false
	switch {
	case !p.alpha:
	case p.depth == 10:
		before, after, widen = 0, 2, 2
	case p.depth == 12 && p.format == yuv420:
		before, after, widen, nearest = 0, 4, 4, true
	}
	luma := make([]int32, 256<<widen)
	k := coefficientsOf(p.matrix, p.full)
	for i := range luma {
		v := int32(i) * 257
		if widen > 0 {
			v = int32(i)<<(8-widen) | int32(i)>>(2*widen)
		}
		luma[i] = v*k.yg>>16 + k.yb
	}
	size := dst.Mode.Size()
	for y := range p.height {
		p.planes[0].Row(r.luma, y, before)
		p.chromaRow(r, y, before, nearest)
		out := dst.Pix[y*dst.Stride:][:w*size]
		if p.matrix == 0 {
			for x, g := range r.luma {
				out[x*size], out[x*size+1], out[x*size+2] = uint8(r.chroma[1][x]), uint8(g), uint8(r.chroma[0][x])
			}
		} else {
			us, vs := r.chroma[0][:w], r.chroma[1][:w]
			for x, l := range r.luma {
				y1, u, v := luma[l&uint16(len(luma)-1)], int32(us[x]>>after)-128, int32(vs[x]>>after)-128
				o := out[x*size : x*size+3]
				o[0], o[1], o[2] = clip(y1+k.vr*v), clip(y1-k.ug*u-k.vg*v), clip(y1+k.ub*u)
			}
		}
		if p.alpha {
			p.alphaRow(out, r, y, nearest)
		}
	}
}

// clip drops the 6 fraction bits.
func clip(v int32) uint8 { return uint8(max(0, min(255, v>>6))) }

// alphaRow writes the alpha of row y to every fourth byte of out. Its range is
// always full.
func (p *picture) alphaRow(out []byte, r *rows, y int, float bool) {
	if float { // libavif's own code, where libyuv has none
		p.alphaPlane.Row(r.alpha, y, 0)
		for x, a := range r.alpha {
			out[4*x+3] = uint8(float32(float32(a)/4095*255) + 0.5)
		}
		return
	}
	p.alphaPlane.Row(r.alpha, y, uint(p.depth-8))
	for x, a := range r.alpha {
		out[4*x+3] = uint8(a)
	}
}

// chromaRow fills r.chroma for row y.
func (p *picture) chromaRow(r *rows, y int, shift uint, nearest bool) {
	for c := range 2 {
		plane, out := &p.planes[1+c], r.chroma[c]
		if p.format == yuv444 {
			plane.Row(out, y, shift)
			continue
		}
		near, far := r.near[c], r.far[c]
		if p.format == yuv422 {
			plane.Row(near, y, shift)
			upsample(out, near, near)
			continue
		}
		plane.Row(near, y/2, shift)
		if nearest {
			for x := range out {
				out[x] = near[x/2]
			}
			continue
		}
		// The other row that y lies between: none at the top, and none at the
		// bottom of an even height.
		other := y/2 - 1 + y%2*2
		if other < 0 || other >= plane.Height {
			far = near
		} else {
			plane.Row(far, other, shift)
		}
		upsample(out, near, far)
	}
}

// upsample doubles a row of chroma bilinearly, with one rounding, as libyuv's
// ScaleUVRowUp2_Bilinear: near weighs three times as much as far. The first and
// the last sample take none beside them.
func upsample(out, near, far []uint16) {
	last := len(near) - 1
	far = far[:len(near)]
	out[0] = uint16((3*uint32(near[0]) + uint32(far[0]) + 2) >> 2)
	for j := range last {
		a, b, c, d := uint32(near[j]), uint32(near[j+1]), uint32(far[j]), uint32(far[j+1])
		o := out[2*j+1 : 2*j+3]
		o[0], o[1] = uint16((9*a+3*b+3*c+d+8)>>4), uint16((9*b+3*a+3*d+c+8)>>4)
	}
	out[len(out)-1] = uint16((3*uint32(near[last]) + uint32(far[last]) + 2) >> 2)
}

// gray converts a picture without chroma.
func (p *picture) gray(dst *codec.Raster, r *rows) {
	table := make([]uint8, 1<<p.depth)
	if p.alpha { // 8 bits: as colours, of no chroma
		k := coefficientsOf(p.matrix, p.full)
		for i := range table {
			table[i] = clip(int32(i)*257*k.yg>>16 + k.yb)
		}
	} else { // libavif's own code
		off, width := float32(0), float32(int(1)<<p.depth-1)
		if !p.full {
			off, width = float32(int(16)<<(p.depth-8)), float32(int(219)<<(p.depth-8))
		}
		for i := range table {
			v := max(0, min(1, (float32(i)-off)/width))
			table[i] = uint8(0.5 + float32(v*255))
		}
	}
	for y := range p.height {
		p.planes[0].Row(r.luma, y, 0)
		out := dst.Pix[y*dst.Stride:]
		if !p.alpha {
			for x, v := range r.luma {
				out[x] = table[v&uint16(len(table)-1)]
			}
			continue
		}
		for x, v := range r.luma {
			g := table[uint8(v)]
			out[4*x], out[4*x+1], out[4*x+2] = g, g, g
		}
		p.alphaRow(out, r, y, false)
	}
}
