package tokens

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Lfm2Vl"}, build: lfm2VL}, "Lfm2Vl")
}

// lfm2VL takes tokens for each tile of a large image and for the scaled image.
// The bounds of the scaled image are as Qwen2-VL's, but sides are at least one
// square, and any aspect ratio is valid.
func lfm2VL(k *keys) rule {
	token := k.token("image_token", "<image>")
	start, end, thumbnail := k.token("image_start_token", "<|image_start|>"), k.token("image_end_token", "<|image_end|>"), k.token("image_thumbnail_token", "<|img_thumbnail|>")
	k.call.Inert("use_image_special_tokens")
	special := k.bool(k.call, "use_image_special_tokens", true)
	number := func(key string, def, lo int) int { return k.int(k.layer(key), key, def, lo, 1<<12) }
	patch, down := number("encoder_patch_size", 16, 1), number("downsample_factor", 2, 1)
	least, most := number("min_image_tokens", 64, 1), number("max_image_tokens", 256, 1)
	split, thumb := k.bool(k.layer("do_image_splitting"), "do_image_splitting", true), k.bool(k.layer("use_thumbnail"), "use_thumbnail", true)
	lo, hi := k.int(k.layer("min_tiles"), "min_tiles", 2, 1, maxTiles), k.int(k.layer("max_tiles"), "max_tiles", 10, 1, maxTiles)
	if lo > hi {
		k.bad(k.layer("min_tiles"), "min_tiles", "at most max_tiles")
	}
	tile := k.side(k.layer("tile_size"), "tile_size", 512)
	tolerance := k.float(k.layer("max_pixels_tolerance"), "max_pixels_tolerance", 2, 0, 1e6)
	pad := k.bool(k.layer("do_pad"), "do_pad", true)
	k.call.Inert("size", "do_resize")
	f := patch * down
	if f > importer.MaxSide {
		return rule{}
	}
	count := func(h, w int) int { return times((h/patch+down-1)/down, (w/patch+down-1)/down) }
	square := float64(f) * float64(f)
	// plan returns the tiles and the size of the scaled image.
	plan := func(h, w int) (rows, columns, height, width int, err error) {
		fh, fw, ff := float64(h), float64(w), float64(f)
		round := func(n float64, least int) float64 {
			return max(float64(least), float64(math.RoundToEven(n/ff)*ff))
		}
		nh, nw := round(fh, f), round(fw, f)
		switch least, most := float64(least)*square, float64(most)*square; {
		case float64(nh*nw) > most:
			b := math.Sqrt(float64(fh*fw) / most)
			nh, nw = max(ff, float64(math.Floor(fh/b/ff)*ff)), max(ff, float64(math.Floor(fw/b/ff)*ff))
		case float64(nh*nw) < least:
			b := math.Sqrt(least / float64(fh*fw))
			nh, nw = float64(math.Ceil(float64(fh*b)/ff)*ff), float64(math.Ceil(float64(fw*b)/ff)*ff)
		}
		rows, columns = 1, 1
		if large := float64(round(fh, patch)*round(fw, patch)) > float64(float64(float64(most)*square)*tolerance); large && split && hi > 1 {
			rows, columns, err = grid(transforms.NewResizeToTiles(tile, tile, lo, hi), h, w)
		}
		if float64(nh*nw) >= math.MaxInt32 {
			return 0, 0, 0, 0, fmt.Errorf("an image of %d x %d (height x width) is resized to %.0f x %.0f, want less than 2^31 - 1 pixels", h, w, nh, nw)
		}
		return rows, columns, int(nh), int(nw), err
	}
	// The pieces of all images of a call are stacked, after a padding to the
	// most patches that the settings give.
	padded := 0
	if pad {
		padded = times(most, down, down)
		if split {
			padded = max(padded, times(tile/patch, tile/patch))
		}
	}
	stacked := func(sizes [][2]int) error {
		want := -1
		for _, s := range sizes {
			rows, columns, h, w, err := plan(s[0], s[1])
			if err != nil {
				return err
			}
			pieces := []int{times(h/patch, w/patch)}
			if rows*columns > 1 {
				if !thumb {
					pieces = nil
				}
				pieces = append(pieces, times(tile/patch, tile/patch))
			}
			for _, n := range pieces {
				if n = max(n, padded); want >= 0 && n != want {
					return fmt.Errorf("an image of %d x %d (height x width) has pieces of %d and of %d patches, want equal ones", s[0], s[1], want, n)
				}
				want = max(n, padded)
			}
		}
		return nil
	}
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		rows, columns, h, w, err := plan(sizes[index][0], sizes[index][1])
		if err == nil && index == 0 { // for the whole call
			err = stacked(sizes)
		}
		if err != nil {
			return err
		}
		mark := func(s string) {
			if special {
				t.mark(s)
			}
		}
		mark(start)
		if rows*columns > 1 {
			for i := range rows {
				for j := range columns {
					mark(fmt.Sprintf("<|img_row_%d_col_%d|>", i+1, j+1))
					t.image(token, count(tile, tile))
				}
			}
			if thumb {
				mark(thumbnail)
			}
		}
		if rows*columns == 1 || thumb {
			t.image(token, count(h, w))
		}
		mark(end)
		return nil
	}}
}
