package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	_ "image/jpeg"
	"os"
	"path/filepath"

	"github.com/gen2brain/jpegli"
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
	m := image.NewRGBA(image.Rect(0, 0, 4000, 3000))
	for y := range 3000 {
		for x := range 4000 {
			m.Set(x, y, tile.At(b.Min.X+x%b.Dx(), b.Min.Y+y%b.Dy()))
		}
	}
	for name, level := range map[string]int{"large.jpg": 0, "large_progressive.jpg": 2} {
		var buf bytes.Buffer
		if err := jpegli.Encode(&buf, m, &jpegli.EncodingOptions{Quality: 90, ChromaSubsampling: image.YCbCrSubsampleRatio420, ProgressiveLevel: level, OptimizeCoding: true, DCTMethod: jpegli.DCTISlow}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), buf.Bytes(), 0o666); err != nil {
			return err
		}
	}
	header := binary.BigEndian.AppendUint32([]byte("IHDR"), 50000)
	header = append(binary.BigEndian.AppendUint32(header, 50000), 8, 2, 0, 0, 0)
	bomb := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	bomb = binary.BigEndian.AppendUint32(bomb, crc32.ChecksumIEEE(header))
	return os.WriteFile(filepath.Join(out, "bomb.png"), append(bomb, "\x00\x00\x00\x04IDAT\x78\x9c\x63\x60\x00\x00\x00\x00"...), 0o666)
}
