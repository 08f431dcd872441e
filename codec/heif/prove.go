package heif

import (
	"embed"
	"fmt"
	"hash"

	"github.com/infer-prep/infer-prep/internal/clib"
)

// proof holds HEIC files and the digests of their planes, which
// testdata/gen/codecs/phone.py wrote.
//
//go:embed proof
var proof embed.FS

// prove decodes the built-in files and compares their planes: a library that
// lacks an HEVC decoder, has one with a fault, or changes planes is refused.
func (l *library) prove() error {
	err := clib.Prove(proof, func(data []byte, h hash.Hash) error {
		f, err := l.open(data, 0, 0)
		if err != nil {
			return err
		}
		defer f.close()
		p, err := f.decodePlanes()
		if err != nil {
			return err
		}
		for i := range p.planes {
			p.planes[i].Hash(h)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("libheif %s: %s: refused: %w", l.version, l.path, err)
	}
	return nil
}
