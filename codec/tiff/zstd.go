//go:build !small

package tiff

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// unzstd decompresses Zstandard. It keeps its memory.
type unzstd struct{ d *zstd.Decoder }

// decode decompresses in into out.
func (u *unzstd) decode(out, in []byte) error {
	if u.d == nil {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return err
		}
		u.d = z
	}
	got, err := u.d.DecodeAll(in, out[:0:len(out)])
	if err != nil {
		return err
	}
	if len(got) < len(out) {
		return io.ErrUnexpectedEOF
	}
	return nil
}
