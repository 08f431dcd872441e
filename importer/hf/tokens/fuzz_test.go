package tokens

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParse: no file, options or size panics.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"Qwen2VL", "InternVL", "Idefics3", "LlavaNext", "LlavaOnevision", "Gemma3", "Pixtral", "Llama4", "Inkling", "GraniteDocling", "MiniCPMOcr", "NeoMME", "Idefics2", "Blip2"} {
		var l []goldenCase
		readJSON(f, name, &l)
		for _, c := range l {
			f.Add([]byte(c.Processor), []byte(c.Tokenizer), []byte(c.Call), uint32(480), uint32(640))
		}
	}
	f.Fuzz(func(t *testing.T, processor, tokenizer, call []byte, h, w uint32) {
		given := map[string]string{newlines: "1"}
		for _, files := range []Files{{Processor: processor}, {Preprocessor: processor}} {
			files.Tokenizer, files.Call, files.Tokens = tokenizer, call, given
			p, err := Parse(files)
			if err != nil {
				require.Nil(t, p)
				continue
			}
			size := [2]int{int(h), int(w)}
			for _, sizes := range [][][2]int{{size}, {{1, 1}, size}} {
				l, err := p.Images(sizes...)
				if err == nil {
					require.Len(t, l, len(sizes))
					require.LessOrEqual(t, len(l[0].Text), maxText)
				}
			}
		}
	})
}

// FuzzVideos: no file, metadata or size of a video panics.
func FuzzVideos(f *testing.F) {
	for _, name := range VideoClasses() {
		var l []videoCase
		readJSON(f, "videos/"+strings.TrimSuffix(name, suffix), &l)
		for _, c := range l[:4] {
			f.Add([]byte(c.Processor), []byte(c.Tokenizer), uint32(480), uint32(640), uint8(9), 24.0, int32(3))
		}
	}
	f.Fuzz(func(t *testing.T, processor, tokenizer []byte, h, w uint32, frames uint8, fps float64, last int32) {
		for _, files := range []Files{{Processor: processor}, {Processor: processor, Video: processor}, {Preprocessor: processor}} {
			files.Tokenizer = tokenizer
			p, err := Parse(files)
			if err != nil {
				continue
			}
			v := Video{Height: int(h), Width: int(w)}
			v.FPS, v.Indices = fps, make([]int, frames)
			if frames > 0 {
				v.Indices[frames-1] = int(last)
			}
			for _, videos := range [][]Video{{v}, {v, v}} {
				l, err := p.Videos(videos...)
				if err == nil {
					require.Len(t, l, len(videos))
					require.LessOrEqual(t, len(l[0].Text), maxText)
				}
			}
		}
	})
}

// anyValues are JSON values of all kinds.
var anyValues = []string{"null", "true", "0", "-1", "1", "1e400", "0.5", "16777216", "9999999999999999999", `"x"`, "[]", "[1]", "[[1, 1]]", "{}", `{"height": 0}`, `{"longest_edge": 1}`}

// TestVideosAnyValue: every key of the files may have any JSON value.
func TestVideosAnyValue(t *testing.T) {
	for _, name := range VideoClasses() {
		var l []videoCase
		readJSON(t, "videos/"+strings.TrimSuffix(name, suffix), &l)
		var file, inner map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(l[0].Processor, &file))
		require.NoError(t, json.Unmarshal(file["video_processor"], &inner))
		for _, key := range []string{"size", "max_fps", "pooling_size", "frame_timestamp_format", "use_token_compression", "temporal_patch_size", "max_soft_tokens", "max_patches"} {
			if _, ok := inner[key]; !ok {
				inner[key] = json.RawMessage("null")
			}
		}
		one := Video{Height: 48, Width: 60}
		one.Indices = []int{0, 3, 6}
		for key := range inner {
			old := inner[key]
			for _, v := range anyValues {
				inner[key] = json.RawMessage(v)
				file["video_processor"], _ = json.Marshal(inner)
				b, err := json.Marshal(file)
				require.NoError(t, err)
				p, err := Parse(Files{Processor: b, Tokenizer: l[0].Tokenizer})
				require.NoError(t, err)
				_, _ = p.Videos(one)
				_, _ = p.Videos(one, one)
			}
			inner[key] = old
		}
	}
}

// TestParseAnyValue: every key of the processors' files may have any JSON
// value.
func TestParseAnyValue(t *testing.T) {
	for _, name := range Classes() {
		var l []goldenCase
		readJSON(t, name[:len(name)-len(suffix)], &l)
		for _, outer := range []bool{true, false} {
			var file map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(l[0].Processor, &file))
			var inner map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(file["image_processor"], &inner))
			m := inner
			if outer {
				m = file
			}
			keys := make([]string, 0, len(m))
			for k := range m {
				keys = append(keys, k)
			}
			for _, key := range keys {
				old := m[key]
				for _, v := range anyValues {
					m[key] = json.RawMessage(v)
					if !outer {
						file["image_processor"], _ = json.Marshal(inner)
					}
					b, err := json.Marshal(file)
					require.NoError(t, err)
					p, err := Parse(Files{Processor: b, Tokenizer: l[0].Tokenizer, Call: l[0].Call, Tokens: map[string]string{newlines: "1"}})
					if err == nil {
						_, _ = p.Images([2]int{480, 640})
						_, _ = p.Images([2]int{1, 1}, [2]int{3, 1000})
					}
				}
				m[key] = old
			}
		}
	}
}
