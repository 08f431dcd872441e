package tokens

import (
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Phi4Multimodal"}, build: phi4}, "Phi4Multimodal")
}

// phi4 takes tokens for the whole image, and for every second row and column of
// the patches of its tiles that show the image, with one more for each row.
func phi4(k *keys) rule {
	const whole = 256 + 1 + 16
	token := k.token("image_token", "")
	s := k.size(k.layer("size"), "size", size{height: 448, width: 448}, true)
	patch, most := k.side(k.layer("patch_size"), "patch_size", 14), max(k.int(k.layer("dynamic_hd"), "dynamic_hd", 36, 0, maxTiles), 1)
	if s.height == 0 || s.height != s.width || s.height < patch {
		k.bad(k.layer("size"), "size", "equal height and width, at least patch_size")
		return rule{}
	}
	r := transforms.NewResizeToTiles(s.height, s.width, 1, most)
	r.Rule, r.Fit, r.Fill, r.MinSide = transforms.TilesCeil, transforms.TileFloor, []float64{255}, 10
	lines := s.height / patch // of a tile
	// seen counts the lines before the padding whose index in their tile is
	// even.
	seen := func(canvas, content int) (n int) {
		for i := range canvas/s.height*lines - (canvas-content)/patch {
			n += 1 - i%lines%2
		}
		return n
	}
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		h, w := sizes[index][0], sizes[index][1]
		height, width, err := scaled(r, h, w)
		if err != nil {
			return err
		}
		content, err := r.Scale(h, w, nil)
		if err != nil {
			return err
		}
		rows, columns := seen(height, content.Height), seen(width, content.Width)
		t.image(token, whole+times(rows, columns)+rows)
		return nil
	}}
}
