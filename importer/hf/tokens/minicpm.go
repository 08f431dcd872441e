package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"MiniCPMV4_6"}, build: func(k *keys) rule { return miniCPM(k, false) }}, "MiniCPMV4_6", "MiniCPMV4_7")
	define(class{images: []string{"MiniCPMOcr"}, build: func(k *keys) rule { return miniCPM(k, true) }}, "MiniCPMOcr")
}

// miniCPM takes tokens for the whole image and for each slice of a large one:
// one for each square of patches, 2 x 2 with downsample_mode 4x, else 4 x 4.
// The number of the image in its prompt stands before it.
func miniCPM(k *keys, ocr bool) rule {
	token, start, end := k.token("image_token", ""), k.token("image_start_token", ""), k.token("image_end_token", "")
	sliceStart, sliceEnd := k.token("slice_start_token", ""), k.token("slice_end_token", "")
	k.call.Inert("size")
	const maxSide, maxSlices = 1 << 16, 34 // those of ResizeToSlices
	side := func(key string, def int) int { return k.int(k.layer(key), key, def, 1, maxSide) }
	r := transforms.NewResizeToSlices(side("patch_size", 14), side("scale_resolution", 448), 1)
	if most := k.int(k.layer("max_slice_nums"), "max_slice_nums", 9, 0, maxSlices); k.bool(k.layer("slice_mode"), "slice_mode", true) {
		r.MaxSlices = max(most, 1)
	}
	shown := k.bool(k.image, "slice_mode", true) // whether the text has the slices
	mode := "16x"
	if ocr {
		mode = "4x"
	}
	if o := k.layer("downsample_mode"); o.Has("downsample_mode") {
		mode = k.string(o, "downsample_mode", "")
	}
	if mode == "4x" {
		r.Merge = 2
	}
	if ocr {
		o := k.layer("small_image_upsize")
		switch k.string(o, "small_image_upsize", "always") {
		case "always":
		case "adaptive":
			k.bad(o, "small_image_upsize", `"always" or "never": the size by glyphs, which OpenCV finds, is not supported`)
		default:
			r.KeepSmall = true
		}
	}
	if !k.bool(k.layer("do_resize"), "do_resize", true) {
		k.bad(k.layer("do_resize"), "do_resize", "true: without it the class fails, or fails for most sizes")
	}
	idStart, idEnd := "", ""
	o := k.layer("use_image_id")
	if o.Peek("use_image_id") == nil {
		o = k.image
	}
	numbered := k.bool(o, "use_image_id", true)
	if numbered {
		idStart, idEnd = k.token("image_id_start_token", ""), k.token("image_id_end_token", "")
	}
	canvas := *r
	canvas.Canvas = true
	square := r.Patch * r.Merge
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		h, w := sizes[index][0], sizes[index][1]
		height, width, err := scaled(r, h, w)
		if err != nil {
			return err
		}
		if numbered {
			t.mark(idStart)
			t.plain(fmt.Sprint(index))
			t.mark(idEnd)
		}
		t.mark(start)
		t.image(token, (height/square)*(width/square))
		t.mark(end)
		rows, columns := r.Grid(h, w)
		if rows == 0 || !shown {
			return nil
		}
		if height, width, err = scaled(&canvas, h, w); err != nil {
			return err
		}
		n := (height / rows / square) * (width / columns / square)
		for i := range rows {
			if i > 0 {
				t.plain("\n")
			}
			for range columns {
				t.mark(sliceStart)
				t.image(token, n)
				t.mark(sliceEnd)
			}
		}
		return nil
	}}
}
