package avif

import (
	"embed"
	"fmt"
	"hash"

	"github.com/infer-prep/infer-prep/internal/clib"
)

// proof holds AVIF files and the digests of their planes, which
// testdata/gen/codecs/phone.py wrote.
//
//go:embed proof
var proof embed.FS

// prove decodes the built-in files and compares their planes: a library whose
// structures have other layouts, or a decoder with a fault, is refused.
func (l *library) prove() error {
	err := clib.Prove(proof, func(data []byte, h hash.Hash) error {
		f, err := l.open(data, 0)
		if err != nil {
			return err
		}
		defer f.close()
		if err := f.decode(); err != nil {
			return err
		}
		p := f.image()
		if p.width > 64 || p.height > 64 {
			return fmt.Errorf("%dx%d pixels", p.width, p.height)
		}
		for i := range p.planes {
			p.planes[i].Hash(h)
		}
		p.alphaPlane.Hash(h)
		return nil
	})
	if err != nil {
		return fmt.Errorf("libavif %s: %s: refused: %w", l.version, l.path, err)
	}
	return nil
}
