package tensor

import (
	"fmt"
	"io"
	"math"
)

// WriteRaw writes t's elements and nothing else: row-major, little-endian, no
// padding. A Bytes tensor is written as it is.
func WriteRaw(w io.Writer, t *Tensor) error {
	if err := t.sound(); err != nil {
		return err
	}
	if t.DType == Bytes {
		_, err := w.Write(t.Data)
		return err
	}
	return writeElems(w, t)
}

// ReadRaw reads a tensor of description d (layout included) as WriteRaw writes
// it, and leaves r behind it. For Bytes it reads to the end of r. An unknown
// size is an ErrDesc.
func ReadRaw(r io.Reader, d Desc, limit int64) (*Tensor, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	dec := decoder{r: r, format: "raw", have: remaining(r), limit: limit}
	if d.DType == Bytes {
		b, err := dec.all(limit)
		if err != nil {
			return nil, err
		}
		return FromBytes(b), nil
	}
	n := d.Size()
	if n < 0 {
		return nil, fmt.Errorf("%w: %v has an unknown size", ErrDesc, d)
	}
	if n > limit {
		return nil, dec.fail(ErrLimit, -1, "%v has %d bytes, %d are allowed", d, n, limit)
	}
	return dec.elems(d, true)
}

// all reads to the end of the input, which may have limit bytes at most.
func (d *decoder) all(limit int64) ([]byte, error) {
	limit = max(limit, 0)
	b, err := readBytes(d.r, min(limit, math.MaxInt64-1)+1, max(d.have+1, 4096))
	switch {
	case err == io.EOF:
		d.off += int64(len(b))
		return b, nil
	case err == nil || err == ErrLimit:
		return nil, d.fail(ErrLimit, limit, "input goes on, %d bytes are allowed", limit)
	}
	return nil, fmt.Errorf("tensor: %s: %w", d.format, err)
}
