package tokens

// These classes take the same number of tokens for every image.
func init() {
	processor := func(key string, def int) func(k *keys) int {
		return func(k *keys) int { return k.int(k.file, key, def, 0, maxLength) }
	}
	// The image processor of these has the number.
	image := func(k *keys) int {
		if k.image.Peek("image_seq_length") == nil {
			k.fail("image_seq_length", "missing: the class takes it from the image processor, which has no default")
		}
		return k.int(k.image, "image_seq_length", 0, 0, maxLength)
	}
	for name, f := range map[string]fixed{
		"Chameleon":        {image: "Chameleon", length: processor("image_seq_length", 1024), number: 2, start: "boi_token", startDef: "<racm3:break>", end: "eoi_token", endDef: "<eoss>"},
		"Florence2":        {image: "CLIP", length: image, tokenizer: true},
		"PaliGemma":        {image: "Siglip", length: image, def: "<image>"},
		"ColPali":          {image: "Siglip", length: image, def: "<image>"},
		"Gemma3n":          {image: "Siglip", length: processor("image_seq_length", 256), tokenizer: true, start: "boi_token", end: "eoi_token", around: "\n\n"},
		"DeepseekVL":       {image: "DeepseekVL", length: processor("num_image_tokens", 576), tokenizer: true, noCount: true},
		"DeepseekVLHybrid": {image: "DeepseekVLHybrid", length: processor("num_image_tokens", 576), tokenizer: true, noCount: true},
		"Janus":            {image: "Janus", length: processor("num_image_tokens", 576), tokenizer: true, noCount: true, start: "boi_token", end: "eoi_token"},
	} {
		define(class{images: []string{f.image}, build: f.build}, name)
	}
}

// fixed describes a class whose text has the same tokens for every image.
type fixed struct {
	image            string // the image processor
	length           func(k *keys) int
	tokenizer        bool   // image_token is required of the tokenizer
	def              string // default of image_token; "" is the processor's own image_token, "<image>" by default
	start, end       string // attributes of the tokens around; "" is none
	startDef, endDef string // and their defaults; "" is none
	around           string // text at both ends
	number           int    // tokens around that the number counts
	noCount          bool   // has no _get_num_multimodal_tokens
}

func (f fixed) build(k *keys) rule {
	def := f.def
	if def == "" && !f.tokenizer {
		def = k.string(k.file, "image_token", "<image>")
	}
	token, start, end := k.token("image_token", def), "", ""
	if f.start != "" {
		start, end = k.token(f.start, f.startDef), k.token(f.end, f.endDef)
	}
	length := f.length(k)
	k.call.Inert("size", "crop_size", "do_resize", "do_center_crop", "do_pad", "min_size") // no influence
	r := rule{marked: f.number > 0, text: func(t *text, _ [][2]int, _ int) error {
		t.plain(f.around)
		if start != "" {
			t.mark(start)
		}
		t.image(token, length)
		if end != "" {
			t.mark(end)
		}
		t.plain(f.around)
		return nil
	}}
	if !f.noCount {
		r.count = func(int, int) (int, error) { return length + f.number, nil }
	}
	return r
}
