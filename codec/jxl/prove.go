package jxl

import (
	"embed"
	"fmt"
	"hash"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/clib"
)

// proof holds JPEG XL files and the digests of their samples, or of the JPEG
// that one was made of, which testdata/gen/codecs/jxl.py wrote.
//
//go:embed proof
var proof embed.FS

// prove decodes the built-in files and compares their samples: a library whose
// structures have other layouts, or with a fault, is refused.
func (l *library) prove() error {
	err := clib.Prove(proof, func(data []byte, sum hash.Hash) error {
		var h header
		if err := h.parse(data); err != nil {
			return err
		}
		if h.width > 64 || h.height > 64 {
			return fmt.Errorf("%dx%d pixels", h.width, h.height)
		}
		i, err := l.info(h.codestream)
		if err != nil {
			return err
		}
		if _, _, err := frames(h.codestream[i.frame:], &i); err != nil {
			return err
		}
		if h.restores {
			file, err := l.restore(data, codec.DefaultLimits().Bytes)
			sum.Write(file)
			return err
		}
		out := make([]byte, i.width*i.height*i.channels()*((i.bits+7)/8))
		err = l.decode(h.codestream, &i, out)
		sum.Write(out)
		return err
	})
	if err != nil {
		return fmt.Errorf("libjxl %s: %s: refused: %w", l.version, l.path, err)
	}
	return nil
}
