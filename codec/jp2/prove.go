package jp2

import (
	"embed"
	"fmt"
	"hash"

	"github.com/infer-prep/infer-prep/internal/clib"
)

// proof holds JPEG 2000 files and the digests of their samples, which
// testdata/gen/codecs/jp2.py wrote.
//
//go:embed proof
var proof embed.FS

// prove decodes the built-in files, lossless (5/3) and lossy (9/7). It compares
// their samples: a library whose structures have other layouts, or with another
// arithmetic, is refused.
func (l *library) prove() error {
	err := clib.Prove(proof, func(data []byte, sum hash.Hash) error {
		var h header
		if err := h.parse(data); err != nil {
			return err
		}
		if h.width > 64 || h.height > 64 {
			return fmt.Errorf("%dx%d pixels", h.width, h.height)
		}
		f, err := l.open(data, h.boxed, false)
		if err != nil {
			return err
		}
		defer f.close()
		if err := f.check(&h.siz); err != nil {
			return err
		}
		var samples []byte
		for {
			t, err := f.next(&h.siz, h.width, h.height, &samples)
			if err != nil {
				return err
			}
			if t == nil {
				return f.end()
			}
			sum.Write(samples)
		}
	})
	if err != nil {
		return fmt.Errorf("OpenJPEG %s: %s: refused: %w", l.version, l.path, err)
	}
	return nil
}
