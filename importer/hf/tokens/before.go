package tokens

import "github.com/infer-prep/infer-prep/importer"

// These classes put the tokens of images before the prompt.
func init() {
	define(class{images: []string{"Kosmos2_5"}, options: `{"max_patches": 4096}`, before: true, build: kosmos25}, "Kosmos2_5")
	define(class{images: []string{"Blip"}, before: true, build: func(k *keys) rule { return blip(k, false) }}, "Blip2")
	define(class{images: []string{"Blip"}, before: true, build: func(k *keys) rule { return blip(k, true) }}, "InstructBlip")
	define(class{images: []string{"Siglip"}, before: true, build: pi0}, "PI0")
}

// once takes the tokens of write for the first image of a call. The reference
// puts them before a text once, however many images it has.
func once(write func(t *text)) rule {
	return rule{text: func(t *text, _ [][2]int, index int) error {
		if index == 0 {
			write(t)
		}
		return nil
	}}
}

// kosmos25 takes num_image_tokens tokens.
func kosmos25(k *keys) rule {
	bos, start, end, token := k.token("bos_token", ""), k.token("boi_token", ""), k.token("eoi_token", ""), k.token("image_token", "")
	length := k.int(k.file, "num_image_tokens", 2048, 0, maxLength)
	k.call.Inert("max_patches", "patch_size")
	return once(func(t *text) {
		t.mark(bos)
		t.mark(start)
		t.image(token, length)
		t.mark(end)
	})
}

// blip takes num_query_tokens tokens. They also stand before the token that
// starts the text. Without the number, InstructBLIP fails, and BLIP-2 takes
// none. With it, both fail if the tokenizer has an image_token.
func blip(k *keys, required bool) rule {
	const token = "<image>"
	k.call.Inert("size", "do_resize")
	length := 0
	switch {
	case k.file.Peek("num_query_tokens") == nil:
		if required {
			k.fail("num_query_tokens", "missing: the class has no default, and processor_config.json has it")
		}
		return once(func(*text) {})
	case k.has("image_token"):
		k.fail("image_token", "the class fails with a tokenizer that has one, want none")
	case k.tokenizer == nil:
		k.fail("image_token", "unknown: want tokenizer_config.json, which must have none")
	default:
		length = k.int(k.file, "num_query_tokens", 0, 0, maxLength)
	}
	return once(func(t *text) { t.image(token, length) })
}

// pi0 takes image_seq_length tokens for each image. bos_token, the prompt and a
// newline follow the tokens of all images.
func pi0(k *keys) rule {
	const token = "<image>"
	if k.image.Peek("image_seq_length") == nil {
		k.fail("image_seq_length", "missing: the class takes it from the image processor, which has no default")
	}
	length := k.int(k.image, "image_seq_length", 0, 0, maxLength)
	k.call.Inert("size", "do_resize")
	return rule{text: func(t *text, _ [][2]int, _ int) error {
		t.image(token, length)
		return nil
	}}
}

// has reports whether the tokenizer has the attribute, as far as the files and
// the caller say.
func (k *keys) has(name string) bool {
	if _, ok := k.tokens[name]; ok {
		return true
	}
	if k.tokenizer == nil {
		return false
	}
	if k.tokenizer.Peek(name) != nil {
		return true
	}
	extra, ok := k.tokenizer.Peek("extra_special_tokens").(*importer.Object)
	return ok && extra.Peek(name) != nil
}
