// Package animation decodes all frames of an animated GIF, PNG, WebP or AVIF
// file.
//
// The reference is Pillow 13.0.0: each frame of ImageSequence.Iterator(img),
// converted to RGB before the next is asked for. A frame is the whole canvas
// after the frame's part has been drawn on it, with the format's disposal and
// blending as Pillow and libwebp 1.6.0 apply them. The pixels of a part are
// those of package codec for a still image with the same data.
//
// A still image of any format is an animation of one frame. Damaged files are
// errors, and so are animations that are not composed exactly as Pillow does.
package animation

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/gif"  // decodes the parts
	_ "github.com/infer-prep/infer-prep/codec/png"  // decodes the parts
	_ "github.com/infer-prep/infer-prep/codec/webp" // decodes the parts
)

// MaxFrames is the largest number of frames of a file.
const MaxFrames = 1 << 20

// Delay is the time for which a frame is shown: Num/Den seconds. A Den of 0
// means that the file does not say it.
type Delay struct{ Num, Den int }

// rect is a part of the canvas.
type rect struct{ x, y, w, h int }

// within reports whether r is a part of the canvas.
func (r rect) within(width, height int) bool {
	return r.w > 0 && r.h > 0 && r.x+r.w <= width && r.y+r.h <= height
}

// film is an animation of one format.
type film interface {
	// draw changes the canvas of frame i-1 into that of frame i. Frames are
	// drawn in their order; frame 0 starts anew.
	draw(c *canvas, i int) error
}

// Animation is an open file. It must not be used by several goroutines at once.
type Animation struct {
	// Width and Height are the size of all frames.
	Width, Height int
	// Delays are those of the frames. Their number is the number of frames.
	Delays []Delay

	format string
	film   film // nil for a still image
	data   []byte
	canvas canvas
	next   int // the frame to draw next
	rgb    []byte
}

// Detect reports whether data starts as a GIF, PNG, WebP or AVIF file does.
func Detect(data []byte) bool {
	switch codec.Sniff(data) {
	case "gif", "png", "webp", "avif":
		return true
	}
	return false
}

// Open reads the structure of a file. It checks that the canvas has at most
// limits.Pixels pixels and that all frames as RGB have at most limits.Bytes
// bytes; the zero value means codec.DefaultLimits. The caller must not change
// data while it uses the Animation. Errors are of type *codec.Error.
func Open(data []byte, limits codec.Limits) (*Animation, error) {
	limits = limits.WithDefaults()
	o := codec.Options{Limits: limits, Color: codec.ToRGBA}
	info, err := codec.DecodeConfig(data, &o)
	if err != nil {
		return nil, err
	}
	a := &Animation{Width: info.OutWidth, Height: info.OutHeight, format: info.Format, data: data, canvas: canvas{options: o}}
	switch info.Format {
	case "gif":
		a.film, err = a.openGIF()
	case "png":
		a.film, err = a.openPNG()
	case "webp":
		a.film, err = a.openWebP()
	default:
		s, ok := codec.NewFormatDecoder(info.Format).(sequence)
		switch {
		case info.Frames < 2:
			err = a.add(Delay{}, 0)
		case ok:
			a.film, err = a.openSequence(s)
		default: // TIFF
			err = codec.Errorf(info.Format, -1, codec.ErrUnsupported, "several frames: want an animated GIF, PNG, WebP or AVIF file")
		}
	}
	switch {
	case info.Format == "gif" && info.Frames < 2 && (err != nil || len(a.Delays) != 1):
		// Package codec permits damage behind the first frame.
		a.film, a.Delays = nil, []Delay{{}}
	case err != nil:
		return nil, err
	}
	c := &a.canvas
	c.format, c.width, c.height = a.format, a.Width, a.Height
	if a.film != nil {
		if err := limits.CheckSize(a.format, a.Width, a.Height, 19); err != nil { // four canvases of RGBA and one of RGB
			return nil, err
		}
	}
	if n, size := int64(len(a.Delays)), int64(a.Width)*int64(a.Height)*3; limits.Bytes > 0 && n > limits.Bytes/size {
		return nil, codec.Errorf(a.format, -1, codec.ErrBytes, "%d frames of %dx%d pixels have %.0f bytes, the limit is %d", n, a.Width, a.Height, float64(n)*float64(size), limits.Bytes)
	}
	return a, nil
}

// Frame returns frame i, 0 to len(a.Delays)-1, as Height x Width x 3 bytes of
// RGB. They are valid until the next call. A frame before the last one costs
// the time of all frames up to it. Errors are of type *codec.Error.
func (a *Animation) Frame(i int) ([]byte, error) {
	if i < 0 || i >= len(a.Delays) {
		return nil, fmt.Errorf("animation: frame %d: want 0 to %d", i, len(a.Delays)-1)
	}
	if i < a.next-1 {
		a.next = 0
	}
	if a.film == nil {
		o := a.canvas.options
		o.Color = codec.ToRGB
		t, err := codec.Decode(a.data, &o)
		if err != nil {
			return nil, err
		}
		return t.Data, nil
	}
	for ; a.next <= i; a.next++ {
		if err := a.film.draw(&a.canvas, a.next); err != nil {
			a.next = 0
			return nil, err
		}
	}
	if a.rgb == nil {
		a.rgb = make([]byte, a.Width*a.Height*3)
	}
	for k, n := 0, a.Width*a.Height; k < n; k++ {
		p := a.canvas.pix[4*k:]
		if t := a.canvas.palette; t != nil {
			p = t[p[0]][:]
		}
		copy(a.rgb[3*k:3*k+3], p)
	}
	return a.rgb, nil
}

// add appends a frame's delay.
func (a *Animation) add(d Delay, at int) error {
	if len(a.Delays) == MaxFrames {
		return codec.Errorf(a.format, int64(at), codec.ErrLimit, "more than %d frames", MaxFrames)
	}
	a.Delays = append(a.Delays, d)
	return nil
}

// canvas holds the pixels of a frame, RGBA and not premultiplied.
type canvas struct {
	format        string
	width, height int
	options       codec.Options
	decoder       codec.Decoder
	pix, prev     []byte
	part          []byte
	still         bytes.Buffer
	palette       *[256][3]uint8 // if the first bytes of pixels are indices
}

// reset fills the canvas with a colour.
func (c *canvas) reset(color [4]uint8) {
	if c.pix == nil {
		c.pix = make([]byte, c.width*c.height*4)
	}
	c.fill(rect{0, 0, c.width, c.height}, color)
}

// row returns the pixels of row y of a part of the canvas.
func (c *canvas) row(pix []byte, r rect, y int) []byte {
	return pix[((r.y+y)*c.width+r.x)*4:][:r.w*4]
}

// fill fills a part of the canvas.
func (c *canvas) fill(r rect, color [4]uint8) {
	for y := range r.h {
		row := c.row(c.pix, r, y)
		for x := 0; x < len(row); x += 4 {
			copy(row[x:], color[:])
		}
	}
}

// keep copies the canvas to c.prev.
func (c *canvas) keep() { c.prev = append(c.prev[:0], c.pix...) }

// restore copies a part of c.prev back.
func (c *canvas) restore(r rect) {
	for y := range r.h {
		copy(c.row(c.pix, r, y), c.row(c.prev, r, y))
	}
}

// decode decodes the still image in c.still into c.part, w x h pixels of RGBA.
// at is the part's place in the file, for errors.
func (c *canvas) decode(w, h, at int) error {
	i, err := c.decoder.Open(c.still.Bytes(), &c.options)
	if err == nil {
		if info := i.Info(); info.OutWidth != w || info.OutHeight != h {
			err = codec.Errorf(c.format, -1, codec.ErrFormat, "%dx%d pixels, want %dx%d", info.OutWidth, info.OutHeight, w, h)
		}
	}
	if err == nil {
		c.part = slices.Grow(c.part[:0], 4*w*h)[:4*w*h]
		err = i.Decode(c.part)
	}
	if err != nil {
		kind := codec.ErrFormat
		if e, ok := err.(*codec.Error); ok {
			kind = e.Kind
		}
		return codec.Errorf(c.format, int64(at), kind, "the frame at this offset, as a still image: %v", err)
	}
	return nil
}
