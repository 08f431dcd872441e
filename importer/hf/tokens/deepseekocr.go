package tokens

import (
	"math"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"DeepseekOcr2"}, options: `{"crop_to_patches": true, "min_patches": 2, "max_patches": 6}`, build: deepseekOCR2}, "DeepseekOcr2")
	define(class{images: []string{"UnlimitedOcr"}, build: unlimitedOCR}, "UnlimitedOcr")
}

// ocr holds what DeepSeek-OCR 2 and Unlimited-OCR share: the whole image, and
// tiles of an image with a side above tile_size.
type ocr struct {
	token       string
	size        size
	side        int // of a tile
	patch, down float64
	split       bool
	grid        func(h, w int) (rows, columns int, err error) // 0 without tiles
}

// whole returns the error of an image whose shorter side vanishes if the longer
// has edge pixels.
func (o ocr) whole(h, w, edge int) error {
	_, _, err := scaled(&transforms.Resize{Fit: transforms.FitLongest, Edge: edge, SizeRule: transforms.SizeScale}, h, w)
	return err
}

func newOCR(k *keys, side, most int) ocr {
	o := ocr{
		token: k.token("image_token", "<image>"), size: k.size(k.layer("size"), "size", size{height: 1024, width: 1024}, true),
		side:  k.side(k.layer("tile_size"), "tile_size", side),
		patch: float64(k.side(k.file, "patch_size", 16)), down: float64(k.side(k.file, "downsample_ratio", 4)),
	}
	if o.size.height == 0 {
		k.bad(k.layer("size"), "size", "height and width")
	}
	o.split = k.bool(k.layer("crop_to_patches"), "crop_to_patches", true)
	least, most := k.int(k.layer("min_patches"), "min_patches", 2, 1, maxTiles), k.int(k.layer("max_patches"), "max_patches", most, 1, maxTiles)
	if least > most {
		k.bad(k.layer("min_patches"), "min_patches", "at most max_patches")
	}
	o.grid = func(h, w int) (rows, columns int, err error) {
		if !o.split || max(h, w) <= o.side {
			return 0, 0, nil
		}
		return grid(transforms.NewResizeToTiles(o.side, o.side, least, most), h, w)
	}
	return o
}

func deepseekOCR2(k *keys) rule {
	o := newOCR(k, 768, 6)
	queries := func(side int) int {
		n := int(math.Ceil(float64(side) / o.patch / o.down))
		return times(n, n)
	}
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		h, w := sizes[index][0], sizes[index][1]
		edge := o.side
		if o.split {
			edge = o.size.height
		}
		if err := o.whole(h, w, edge); err != nil {
			return err
		}
		rows, columns, err := o.grid(h, w)
		t.image(o.token, min(queries(o.size.height), maxCount/2)+min(times(queries(o.side), rows, columns), maxCount/2)+1)
		return err
	}}
}

func unlimitedOCR(k *keys) rule {
	o := newOCR(k, 640, 32)
	stretched := k.int(k.layer("maximum_pad_value"), "maximum_pad_value", 640, 0, importer.MaxSide)
	queries := func(side int) int { return int(math.Ceil(math.Floor(float64(side)/o.patch) / o.down)) }
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		h, w := sizes[index][0], sizes[index][1]
		if edge := max(o.size.height, o.size.width); o.split || edge > stretched {
			if err := o.whole(h, w, edge); err != nil {
				return err
			}
		}
		rows, columns, err := o.grid(h, w)
		q, u := queries(max(o.size.height, o.size.width)), queries(o.side)
		n := min(times(q, q+1), maxCount/2) + 1
		if rows > 0 {
			n = min(n+min(times(rows, u, times(columns, u)+1), maxCount/2), maxCount)
		}
		t.image(o.token, n)
		return err
	}}
}
