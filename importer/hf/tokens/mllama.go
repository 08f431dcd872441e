package tokens

func init() {
	define(class{images: []string{"Mllama"}, build: mllama}, "Mllama")
}

// mllama takes one token for each image, whatever its size: the tiles reach the
// model through cross_attention_mask.
func mllama(k *keys) rule {
	token := k.token("image_token", "<|image|>")
	k.call.Inert("size", "max_image_tiles", "do_pad", "do_resize")
	return rule{text: func(t *text, _ [][2]int, _ int) error {
		t.image(token, 1)
		return nil
	}}
}
