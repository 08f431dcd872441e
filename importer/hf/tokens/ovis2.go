package tokens

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	define(class{images: []string{"Ovis2"}, build: ovis2}, "Ovis2")
}

// ovis2 takes image_seq_length tokens for the whole image and for each of
// several tiles, with separators between columns and rows.
func ovis2(k *keys) rule {
	const token = "<IMG_ATOM>"
	length := k.int(k.file, "image_seq_length", 256, 0, maxLength)
	s := k.size(k.layer("size"), "size", size{height: 384, width: 384}, true)
	split := k.bool(k.layer("crop_to_patches"), "crop_to_patches", false)
	least, most := k.int(k.layer("min_patches"), "min_patches", 1, 0, maxTiles), k.int(k.layer("max_patches"), "max_patches", 12, 0, maxTiles)
	rule2 := transforms.TilesCover
	if !k.bool(k.layer("use_covering_area_grid"), "use_covering_area_grid", true) {
		rule2 = transforms.TilesAspect
	}
	if split && s.height == 0 {
		k.bad(k.layer("size"), "size", "height and width, for crop_to_patches")
	}
	return rule{text: func(t *text, sizes [][2]int, index int) (err error) {
		rows, columns := 1, 1
		if split && most > 1 && (rule2 == transforms.TilesCover || least <= most) {
			r := transforms.NewResizeToTiles(s.height, s.width, max(least, 1), most)
			if r.Rule = rule2; rule2 == transforms.TilesCover {
				r.MinTiles = 1
			}
			if rows, columns, err = grid(r, sizes[index][0], sizes[index][1]); err != nil {
				return err
			}
		}
		t.mark("<IMG_START>")
		t.image(token, length)
		t.mark("<IMG_GRID>")
		if rows*columns > 1 {
			for i := range rows {
				for j := range columns {
					t.image(token, length)
					if j < columns-1 {
						t.mark("<IMG_COL>")
					}
				}
				if i < rows-1 {
					t.mark("<IMG_ROW>")
				}
			}
		}
		t.mark("<IMG_END>")
		return nil
	}}
}
