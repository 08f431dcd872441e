package tokens

import (
	"encoding/json"
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

// TestParseAnyValue: every key of the processors' files may have any JSON
// value.
func TestParseAnyValue(t *testing.T) {
	values := []string{"null", "true", "0", "-1", "1", "1e400", "0.5", "16777216", "9999999999999999999", `"x"`, "[]", "[1]", "[[1, 1]]", "{}", `{"height": 0}`, `{"longest_edge": 1}`}
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
				for _, v := range values {
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
