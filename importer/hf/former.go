package hf

import "github.com/infer-prep/infer-prep/importer"

// formerKey is a key of older files that the code of a class does not read in
// the reference's version. The key is accepted if it has no influence, or if it
// asks for what the class does anyway. Otherwise it is an unknown key whose
// error has the note: older versions returned other pixels.
type formerKey struct {
	note   string // what the key did, and until when
	agrees func(v any, o *importer.Object, s *settings) bool
}

// former lists these keys by class. The versions are those of transformers.
var former = map[string]map[string]formerKey{
	// The reference ignores these, whatever they say.
	"Fuyu":       {"target_height": ignored, "target_width": ignored}, // in place of size
	"Vivit":      {"do_zero_centering": ignored},                      // in place of offset
	"PoolFormer": {"do_resize_and_center_crop": ignored},              // in place of do_resize and do_center_crop
	"LayoutLMv3": {
		"rescale_value": {"versions 4.26 to 5.0 have it in place of rescale_factor", func(v any, _ *importer.Object, s *settings) bool {
			f, ok := importer.Float(v)
			return ok && f == s.factor
		}},
	},
	"Segformer": {
		// These change training and segmentation maps alone.
		"do_random_crop":             {"version 4.12 crops in training", always},
		"padding_value":              {"version 4.12 pads random crops in training", always},
		"segmentation_padding_value": {"version 4.12 pads segmentation maps", always},
		"reduce_zero_label":          {"version 4.12 changes segmentation maps", always},
		"image_scale":                {segformerNote, never},
		"keep_ratio":                 {segformerNote, never},
		"align":                      {segformerNote, never},
		"size_divisor":               {segformerNote, never},
	},
	// The feature extractor for audio saves its values in the same file.
	"Phi4Multimodal": {
		"audio_compression_rate": audio, "audio_downsample_rate": audio, "audio_feat_stride": audio, "mel_filters": audio, "mel_max_frequency": audio,
		"mel_min_frequency": audio, "padding_value": audio, "preemphasis": audio, "win_length": audio,
	},
}

const segformerNote = "version 4.12 resizes by image_scale, keep_ratio, align and size_divisor, and not by size"

var ignored = formerKey{"older versions read it in place of another key", always}

var audio = formerKey{"it is about audio", always}

func always(any, *importer.Object, *settings) bool { return true }
func never(any, *importer.Object, *settings) bool  { return false }

// acceptFormer marks the keys of older versions that agree with what the class
// does. It returns the notes of the others.
func acceptFormer(o *importer.Object, class string, s *settings) map[string]string {
	notes := map[string]string{}
	for key, f := range former[class] {
		if !o.Has(key) {
			continue
		}
		if v := o.Peek(key); f.agrees(v, o, s) {
			o.Inert(key)
		} else {
			notes[key] = f.note
		}
	}
	return notes
}

// isFormer reports whether former decides about a key of a class.
func isFormer(class, key string) bool {
	_, ok := former[class][key]
	return ok
}
