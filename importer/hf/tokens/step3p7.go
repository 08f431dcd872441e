package tokens

import (
	"github.com/infer-prep/infer-prep/importer"
)

func init() {
	define(class{images: []string{"Step3p7"}, build: step3p7}, "Step3p7")
}

// step3p7 takes tokens for the whole image and for each tile of a window that
// depends on the image's shape, with a token between rows of tiles.
func step3p7(k *keys) rule {
	const token = "<im_patch>"
	side := func(o *importer.Object) int {
		s := k.size(o, "size", size{height: 728, width: 728}, true)
		if s.height == 0 {
			k.bad(o, "size", "height and width")
		}
		return s.height
	}
	whole, fileWhole := side(k.layer("size")), side(k.image)
	tile, fileTile := k.side(k.layer("patch_size"), "patch_size", 504), k.side(k.image, "patch_size", 504)
	most := k.side(k.image, "max_image_size", 3024)
	stride := k.int(k.image, "vision_patch_size", 14, 1, 1<<12) * k.int(k.image, "downsampler_stride", 4, 1, 1<<12)
	square := func(n int) int { return times(n, n) }
	large, small := square(fileWhole/stride), square(fileTile/stride)
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		rows, columns := step3p7Grid(sizes[index][0], sizes[index][1], whole, tile, most)
		for i := range rows {
			for j := range columns {
				t.mark("<patch_start>")
				t.image(token, small)
				t.mark("<patch_end>")
				if j == columns-1 && i < rows-1 {
					t.mark("<patch_newline>")
				}
			}
		}
		t.mark("<im_start>")
		t.image(token, large)
		t.mark("<im_end>")
		return nil
	}}
}

// step3p7Grid returns the rows and columns of tiles of an image of h x w
// pixels, 0 without tiles. whole is the side of the whole image, tile the
// largest window, and most the longest side that is cut.
func step3p7Grid(h, w, whole, tile, most int) (rows, columns int) {
	aspect := max(float64(h)/float64(w), float64(w)/float64(h))
	if min(h, w) < 32 && aspect > 4 { // padded to a square
		h, w = max(h, w), max(h, w)
	}
	if n := max(h, w); n > most {
		s := float64(most) / float64(n)
		h, w = int(float64(h)*s), int(float64(w)*s)
	}
	short, long := min(h, w), max(h, w)
	if short == 0 {
		return 0, 0
	}
	window := tile
	switch aspect := float64(long) / float64(short); {
	case long <= whole && aspect <= 1.5:
		return 0, 0
	case long <= whole:
		window = short
	case aspect > 4:
		window = min(short, tile)
	}
	tiles := func(n int) int {
		if n < window {
			return 1
		}
		if float64(n%window) > 0.2*float64(window) {
			return n/window + 1
		}
		return n / window
	}
	return tiles(h), tiles(w)
}
