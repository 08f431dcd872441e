package tokens

import (
	"strings"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{
		images: []string{"Gemma3"}, build: gemma3,
		options: `{"do_pan_and_scan": false, "pan_and_scan_min_crop_size": 256, "pan_and_scan_max_num_crops": 4, "pan_and_scan_min_ratio_to_activate": 1.2}`,
	}, "Gemma3")
	define(class{images: []string{"Gemma3"}, build: gemma3, options: `{"do_pan_and_scan": false}`}, "ShieldGemma2")
}

// gemma3 takes image_seq_length tokens for the image and for each crop of pan
// and scan. The number ignores the crops.
func gemma3(k *keys) rule {
	token, boi, eoi := k.token("image_token", ""), k.token("boi_token", ""), k.token("eoi_token", "")
	length := k.int(k.file, "image_seq_length", 256, 0, maxLength)
	m := transforms.NewMapTiles(0, 0)
	m.Cut, m.Whole = transforms.CutAspect, transforms.WholeFirst
	scan := k.bool(k.layer("do_pan_and_scan"), "do_pan_and_scan", false)
	m.MinSide = k.side(k.layer("pan_and_scan_min_crop_size"), "pan_and_scan_min_crop_size", 256)
	m.MaxTiles = k.int(k.layer("pan_and_scan_max_num_crops"), "pan_and_scan_max_num_crops", 4, 1, maxTiles)
	m.MinAspect = k.float(k.layer("pan_and_scan_min_ratio_to_activate"), "pan_and_scan_min_ratio_to_activate", 1.2, 0, 1e6)
	for _, key := range []string{"pan_and_scan_min_crop_size", "pan_and_scan_max_num_crops", "pan_and_scan_min_ratio_to_activate"} {
		if scan && k.layer(key).Peek(key) == nil {
			k.fail(key, "missing: the class has no default for do_pan_and_scan")
		}
	}
	k.call.Inert("size", "do_resize") // of the crops
	m.Ops = transforms.OpList{&transforms.Resize{Height: 1, Width: 1}, transforms.NewHWC2CHW()}
	return rule{
		count: func(h, w int) (int, error) { return length, nil },
		text: func(t *text, sizes [][2]int, index int) error {
			whole := func() {
				t.plain("\n\n")
				t.mark(boi)
				t.image(token, length)
				t.mark(eoi)
				t.plain("\n\n")
			}
			crops := 0
			if scan {
				var err error
				if crops, err = tiles(m, sizes[index][0], sizes[index][1]); err != nil {
					return err
				}
				crops-- // the whole image
			}
			if crops < 1 {
				whole()
				return nil
			}
			t.plain("Here is the original image ")
			whole()
			t.plain(" and here are some crops to help you see better ")
			for i := range crops {
				t.plain(strings.Repeat(" ", min(i, 1)))
				whole()
			}
			return nil
		},
	}
}

// tiles returns the number of tiles that m cuts of an image of h x w pixels.
func tiles(m *transforms.MapTiles, h, w int) (int, error) {
	if err := m.Validate(); err != nil {
		return 0, err
	}
	in := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(h, w, 3), Layout: tensor.HWC}
	out := make([]tensor.Desc, len(m.Info().Out))
	if err := m.Infer(out, []tensor.Desc{in}); err != nil {
		return 0, err
	}
	return min(out[0].Shape.Slice()[0], importer.MaxSide), nil
}
