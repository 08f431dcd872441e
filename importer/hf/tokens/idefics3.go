package tokens

import (
	"fmt"
	"strconv"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Idefics3"}, build: func(k *keys) rule { return idefics3(k, 169, true) }}, "Idefics3")
	define(class{images: []string{"Idefics3"}, build: func(k *keys) rule { return idefics3(k, 64, true) }}, "ColModernVBert")
	define(class{images: []string{"SmolVLM", "Idefics3"}, build: func(k *keys) rule { return idefics3(k, 169, false) }}, "SmolVLM")
}

// newlines is the entry of Files.Tokens with the number of tokens of "\n\n".
const newlines = "double_newline_tokens"

// idefics3 takes image_seq_len tokens, length by default, for each tile and for
// the whole image, with a tag before each. SmolVLM has no
// _get_num_multimodal_tokens. Idefics3's computes the rows of a wide image and
// the columns of a high one from the first resize, the text from the canvas.
func idefics3(k *keys, length int, counts bool) rule {
	const longest = 4096 // MAX_IMAGE_SIZE
	fake, token, global := "<fake_token_around_image>", "<image>", "<global-img>"
	if !counts {
		fake, token, global = k.token("fake_image_token", fake), k.token("image_token", token), k.token("global_image_token", global)
	}
	length = k.int(k.file, "image_seq_len", length, 0, maxLength)
	if k.call.Has("image_seq_len") && counts { // an argument of the call, which the text ignores
		k.call.Inert("image_seq_len")
	}
	edge := k.size(k.layer("size"), "size", size{longest: 4 * 364}, true)
	tile := k.size(k.layer("max_image_size"), "max_image_size", size{longest: 364}, true).longest
	split := k.bool(k.layer("do_image_splitting"), "do_image_splitting", true)
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	if tile == 0 || tile > importer.MaxSide {
		k.bad(k.image, "max_image_size", "longest_edge of 1 to 16777216")
		return rule{}
	}
	if edge.longest > importer.MaxSide || edge.longest == 0 && (edge.height == 0 || counts && split) {
		k.bad(k.image, "size", "longest_edge of 1 to 16777216")
		return rule{}
	}
	extra := 0
	if counts && split {
		s, ok := k.tokens[newlines]
		n, err := strconv.Atoi(s)
		switch {
		case !ok:
			k.fail(newlines, `missing: the number of tokens that the tokenizer makes of "\n\n", such as "1"`)
		case err != nil || n < 0 || n > 2:
			k.fail(newlines, fmt.Sprintf("%.20q, want \"0\", \"1\" or \"2\"", s))
		}
		extra = n - 1
	}
	first := func(h, w int) (int, int, error) {
		if edge.longest == 0 {
			return edge.height, edge.width, nil
		}
		return scaled(&transforms.Resize{Fit: transforms.FitLongest, Edge: edge.longest, MaxEdge: longest, SizeRule: transforms.SizeEven}, h, w)
	}
	r := rule{marked: counts, text: func(t *text, sizes [][2]int, index int) (err error) {
		h, w := sizes[index][0], sizes[index][1]
		rows, columns := 1, 1
		if split && resize {
			if h, w, err = first(h, w); err != nil {
				return err
			}
		}
		if split {
			r := transforms.NewResizeToTiles(tile, tile, 0, 0)
			r.Rule = transforms.TilesMultiple
			if rows, columns, err = grid(r, h, w); err != nil {
				return err
			}
		}
		if rows*columns > 1 {
			if t.tiles(rows, columns, fake, token, length); t.err != nil {
				return nil
			}
			t.plain("\n")
			t.marks += extra
		}
		t.mark(fake)
		t.mark(global)
		t.image(token, length)
		t.mark(fake)
		return nil
	}}
	if counts {
		r.count = func(h, w int) (int, error) {
			if !split {
				return length + 3, nil
			}
			h, w, err := first(h, w)
			rows, columns := (h-1)/tile+1, (w-1)/tile+1
			if err != nil || rows*columns == 1 {
				return length + 3, err
			}
			return length + 3 + extra + min(times(rows, times(length+2, columns)+1), maxCount/2), nil
		}
	}
	return r
}

// tiles writes a line for each row of tiles: marks and tokens of each tile. It
// ends at an error of t.
func (t *text) tiles(rows, columns int, fake, token string, length int) {
	for i := range rows {
		for j := range columns {
			t.mark(fake)
			t.mark(fmt.Sprintf("<row_%d_col_%d>", i+1, j+1))
			t.image(token, length)
		}
		if t.plain("\n"); t.err != nil {
			return
		}
	}
	t.marks += rows
}
