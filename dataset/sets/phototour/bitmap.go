package phototour

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

// bitmap is the shape of an uncompressed BMP file with a byte a pixel.
type bitmap struct {
	width, height int
	down          bool  // rows are from top to bottom
	pixels        int64 // offset
}

// maxSide bounds the sides of a picture. Published ones have 1,024.
const maxSide = 1 << 15

// stride returns the bytes of a row, which are a multiple of four.
func (p *bitmap) stride() int { return (p.width + 3) &^ 3 }

// open reads the header of the picture: 14 bytes of the file and 40 of the
// bitmap, which longer headers begin with too.
func (p *picture) open(ctx context.Context, o store.Opener) (err error) {
	f, err := o.Open(ctx, p.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var h [54]byte
	if n, err := f.ReadAt(h[:], 0); n < len(h) {
		if err != io.EOF {
			return fmt.Errorf("%s: %w", store.Redact(p.name), err)
		}
		return p.errorf("%d bytes, want a header of %d", n, len(h))
	}
	u16, u32 := binary.LittleEndian.Uint16, binary.LittleEndian.Uint32
	w, hgt := int64(int32(u32(h[18:]))), int64(int32(u32(h[22:])))
	if p.down = hgt < 0; p.down {
		hgt = -hgt
	}
	switch {
	case string(h[:2]) != "BM" || u32(h[14:]) < 40:
		return p.errorf("starts with %q and a header of %d bytes, want BM and 40 or more", h[:2], u32(h[14:]))
	case u16(h[28:]) != 8 || u32(h[30:]) != 0:
		return p.errorf("%d bits a pixel and compression %d, want 8 and 0", u16(h[28:]), u32(h[30:]))
	case w < side || hgt < side || w > maxSide || hgt > maxSide || w%side != 0 || hgt%side != 0:
		return p.errorf("size %d x %d, want multiples of %d up to %d", w, hgt, side, maxSide)
	}
	p.width, p.height, p.pixels = int(w), int(hgt), int64(u32(h[10:]))
	if have, want := f.Size()-p.pixels, int64(p.stride())*hgt; have < want {
		return p.errorf("%d bytes of pixels, want %d", have, want)
	}
	return nil
}

func (p *picture) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", dataset.ErrData, store.Redact(p.name), fmt.Sprintf(format, args...))
}

// crop reads patch i of the picture. The rows of the file that have it are read
// at once.
func (p *picture) crop(ctx context.Context, o store.Opener, out []byte, i int) (err error) {
	f, err := o.Open(ctx, p.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	across := p.width / side
	x, y := i%across*side, i/across*side
	if !p.down {
		y = p.height - side - y // the last row is the first in the file
	}
	stride := p.stride()
	band := make([]byte, (side-1)*stride+side)
	at := p.pixels + int64(y)*int64(stride) + int64(x)
	if n, err := f.ReadAt(band, at); n < len(band) {
		if err == io.EOF {
			return p.errorf("the file was truncated after it was opened, want %d bytes at byte %d", len(band), at)
		}
		return fmt.Errorf("%s: %w", store.Redact(p.name), err)
	}
	for r := range side {
		from := r
		if !p.down {
			from = side - 1 - r
		}
		copy(out[r*side:][:side], band[from*stride:])
	}
	return nil
}
