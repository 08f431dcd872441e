package tokens

import (
	"cmp"
	"slices"

	"github.com/infer-prep/infer-prep/importer"
)

func init() {
	define(class{images: []string{"Molmo2"}, build: molmo2}, "Molmo2")
}

// molmo2 takes tokens for the pooled patches of the whole image and of the
// canvas of overlapping crops, each row with a token more.
func molmo2(k *keys) rule {
	s := k.size(k.layer("size"), "size", size{height: 378, width: 378}, true)
	most, patch := k.int(k.layer("max_crops"), "max_crops", 8, 1, maxTiles), k.side(k.layer("patch_size"), "patch_size", 14)
	pair := func(key string, def []int, lo int) []int {
		o := k.layer(key)
		if !o.Has(key) {
			return def
		}
		l, ok := importer.Ints(o.Peek(key), 2, lo, importer.MaxSide)
		if !ok {
			k.bad(o, key, "two whole numbers")
			return def
		}
		return l
	}
	margins, pool := pair("overlap_margins", []int{4, 4}, 0), pair("pooling_size", []int{2, 2}, 1)
	window := (s.height/patch - margins[0] - margins[1]) * patch
	margin := (margins[0] + margins[1]) * patch
	if s.height == 0 || s.height != s.width || s.height > maxLength || window < 1 {
		k.bad(k.layer("size"), "size", "equal height and width of at most 1048576, more than the margins of a crop")
		return rule{}
	}
	lines := k.bool(k.file, "image_use_col_tokens", true)
	fewLines := lines
	if k.file.Peek("use_single_crop_col_tokens") != nil {
		fewLines = k.bool(k.file, "use_single_crop_col_tokens", lines)
	}
	start := "<im_start>"
	if k.bool(k.file, "use_single_crop_start_token", true) {
		start = "<low_res_im_start>"
	}
	tilings := molmo2Tilings(most)
	k.call.Inert("do_resize")
	up := func(n, by int) int { return (n + by - 1) / by }
	write := func(t *text, start string, rows, columns int, lines bool) {
		t.mark(start)
		for range rows {
			t.image("<im_patch>", columns)
			if lines {
				t.mark("<im_col>")
			}
		}
		t.mark("<im_end>")
	}
	r := rule{marked: true, text: func(t *text, sizes [][2]int, index int) error {
		rows, columns := molmo2Tiling(tilings, sizes[index][0]-margin, sizes[index][1]-margin, window)
		write(t, start, up(s.height/patch, pool[0]), up(s.width/patch, pool[1]), fewLines)
		write(t, "<im_start>", up((rows*window+margin)/patch, pool[0]), up((columns*window+margin)/patch, pool[1]), lines)
		return nil
	}}
	r.count = func(h, w int) (int, error) {
		t := &text{left: maxText}
		err := r.text(t, [][2]int{{h, w}}, 0)
		return t.tokens + t.marks, cmp.Or(err, t.err)
	}
	return r
}

// molmo2Tilings lists the grids of at most n crops.
func molmo2Tilings(n int) (l [][2]int) {
	for rows := 1; rows <= n; rows++ {
		for columns := 1; rows*columns <= n; columns++ {
			l = append(l, [2]int{rows, columns})
		}
	}
	slices.SortStableFunc(l, func(a, b [2]int) int { return cmp.Or(a[0]*a[1]-b[0]*b[1], a[0]-b[0]) })
	return l
}

// molmo2Tiling returns the grid of windows that scales an image without its
// margins least, but at least by 1, in float32. The sides may be below 1.
func molmo2Tiling(tilings [][2]int, h, w, window int) (rows, columns int) {
	const never = 1e10
	largest, least := -1, -1
	var high, low float32
	for i, t := range tilings {
		s := min(float32(t[0]*window)/float32(h), float32(t[1]*window)/float32(w))
		if largest < 0 || s > high {
			largest, high = i, s
		}
		if s < 1 {
			s = never
		}
		if least < 0 || s < low {
			least, low = i, s
		}
	}
	if high < 1 {
		return tilings[largest][0], tilings[largest][1]
	}
	return tilings[least][0], tilings[least][1]
}
