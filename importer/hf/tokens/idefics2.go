package tokens

import (
	"fmt"
	"strings"
)

func init() {
	define(class{images: []string{"Idefics2"}, build: idefics2}, "Idefics2")
}

// idefics2 takes image_seq_len tokens between two marks, five times if the file
// has do_image_splitting; the call's has no effect. Then the reference joins
// the marks of images without text between them, and puts a space after a mark
// before text. The text of an image does not show that.
func idefics2(k *keys) rule {
	token, mark := k.token("image_token", "<image>"), "<fake_token_around_image>"
	if k.has("image_token") { // which then needs the other
		mark = k.token("image_boundary_token", "")
	}
	length, parts := k.int(k.file, "image_seq_len", 64, 1, maxLength), 1
	if !strings.HasPrefix(token, "<") {
		k.fail("image_token", fmt.Sprintf("%.20q, want a token that starts with \"<\": the class puts spaces before others", token))
	}
	split, resize := k.bool(k.layer("do_image_splitting"), "do_image_splitting", false), k.bool(k.layer("do_resize"), "do_resize", true)
	k.call.Inert("size", "do_pad")
	if k.bool(k.image, "do_image_splitting", false) {
		parts = 5 // four quarters and the whole
	}
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		if h, w := sizes[index][0], sizes[index][1]; split && resize && min(h, w) < 2 {
			return fmt.Errorf("an image of %d x %d (height x width) has empty quarters, want sides of at least 2", h, w)
		}
		t.mark(mark)
		for range parts {
			t.image(token, length)
			t.mark(mark)
		}
		return nil
	}}
}
