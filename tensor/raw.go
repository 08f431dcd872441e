package tensor

import (
	"io"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// WriteRaw writes only t's elements: row-major, little-endian, without padding.
// For a Bytes tensor it writes the bytes.
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

// ReadRaw reads a tensor of description d, layout included, in the form that
// WriteRaw writes. It reads no further than the tensor; for Bytes it reads to
// the end of r. An unknown size is an ErrDesc.
func ReadRaw(r io.Reader, d Desc, limit int64) (*Tensor, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	dec := decoder{r: r, format: "raw", have: remaining(r), limit: limit}
	if d.DType == Bytes {
		b, err := dec.readAll(limit)
		if err != nil {
			return nil, err
		}
		return FromBytes(b), nil
	}
	n := d.Size()
	if n < 0 {
		return nil, errfmt.Errorf("%w: %v: want known sizes", ErrDesc, d)
	}
	if n > limit {
		return nil, dec.fail(ErrLimit, -1, "%v has %d bytes, want at most %d", d, n, limit)
	}
	return dec.elems(d, true)
}

// readAll reads to the end of the input, at most limit bytes.
func (d *decoder) readAll(limit int64) ([]byte, error) {
	limit = min(max(limit, 0), maxBytes-1)
	b, err := readBytes(d.r, limit+1, max(d.have+1, 4096))
	switch {
	case err == io.EOF:
		d.off += int64(len(b))
		return b, nil
	case err == nil || err == ErrLimit:
		return nil, d.fail(ErrLimit, limit, "the input is longer than %d bytes", limit)
	}
	return nil, errfmt.Errorf("tensor: %s: %w", d.format, err)
}
