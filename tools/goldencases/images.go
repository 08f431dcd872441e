package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	_ "image/jpeg"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/tensor"
)

// images writes files that are too large for the repository, or no images that
// anybody keeps: two JPEG files of 12 megapixels, baseline and progressive,
// both 4:2:0, and a PNG file of 50000 x 50000 pixels whose data is missing.
func (w *writer) images(out string) error {
	f, err := os.Open(filepath.Join(w.root, "testdata/images/jpeg_large.jpg"))
	if err != nil {
		return err
	}
	defer f.Close()
	tile, _, err := image.Decode(f)
	if err != nil {
		return err
	}
	b := tile.Bounds()
	m, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 3000, 4000, 3))
	if err != nil {
		return err
	}
	for i := range 3000 * 4000 {
		r, g, b, _ := tile.At(b.Min.X+i%4000%b.Dx(), b.Min.Y+i/4000%b.Dy()).RGBA()
		m.Data[3*i], m.Data[3*i+1], m.Data[3*i+2] = byte(r>>8), byte(g>>8), byte(b>>8)
	}
	for name, progressive := range map[string]bool{"large.jpg": false, "large_progressive.jpg": true} {
		file, err := jpeg.Encode(nil, m, jpeg.EncodeOptions{Quality: 90, Chroma: jpeg.Chroma420, Optimize: true, Progressive: progressive})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), file, 0o666); err != nil {
			return err
		}
	}
	header := binary.BigEndian.AppendUint32([]byte("IHDR"), 50000)
	header = append(binary.BigEndian.AppendUint32(header, 50000), 8, 2, 0, 0, 0)
	bomb := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	bomb = binary.BigEndian.AppendUint32(bomb, crc32.ChecksumIEEE(header))
	return os.WriteFile(filepath.Join(out, "bomb.png"), append(bomb, "\x00\x00\x00\x04IDAT\x78\x9c\x63\x60\x00\x00\x00\x00"...), 0o666)
}
