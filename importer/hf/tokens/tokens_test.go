package tokens

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goldenCase is a case of a file in testdata, made by a processor of
// transformers (testdata/gen/importers/hf_tokens.py). The lists have an entry
// for each size, null for a refused one. Own is null if it equals Numbers, and
// Numbers if the class has no _get_num_multimodal_tokens.
type goldenCase struct {
	Class, Name                string
	Processor, Tokenizer, Call json.RawMessage
	Numbers, Own               []*int
	SHA256                     string
	Samples                    []json.RawMessage // index and runs of tokens
	Several                    []json.RawMessage // lengths and digest
}

// goldenSizes is sizes.json: sizes of single images, and of the images of a
// prompt.
type goldenSizes struct {
	Sizes [][2]int
	Calls [][][2]int
}

func readJSON(t testing.TB, name string, v any) {
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, v))
}

// pythonRepr returns repr of a text of tokens.
func pythonRepr(s string) string { return "'" + strings.ReplaceAll(s, "\n", `\n`) + "'" }

// TestGoldens compares numbers and texts with those of the real processors.
func TestGoldens(t *testing.T) {
	var g goldenSizes
	readJSON(t, "sizes", &g)
	require.Greater(t, len(g.Sizes), 190)
	var cases []goldenCase
	for _, name := range Classes() {
		var l []goldenCase
		if file := strings.TrimSuffix(name, suffix) + ".json"; !assert.FileExists(t, filepath.Join("testdata", file)) {
			continue
		}
		readJSON(t, strings.TrimSuffix(name, suffix), &l)
		cases = append(cases, l...)
	}
	equal := map[string]int{}
	for _, c := range cases {
		t.Run(c.Class+"/"+c.Name, func(t *testing.T) {
			p, err := Parse(Files{Processor: c.Processor, Tokenizer: c.Tokenizer, Call: c.Call, Tokens: map[string]string{newlines: "1"}})
			require.NoError(t, err)
			require.Equal(t, c.Class+"Processor", p.Class())
			hash, texts := sha256.New(), map[int]string{}
			for i, size := range g.Sizes {
				l, err := p.Images(size)
				own := c.Own
				if own == nil {
					own = c.Numbers
				}
				if own[i] == nil {
					require.Error(t, err, size)
					hash.Write([]byte("None"))
					continue
				}
				require.NoError(t, err, size)
				require.Equal(t, *own[i], l[0].TextTokens, size)
				switch {
				case c.Numbers == nil:
					require.Equal(t, l[0].TextTokens, l[0].Tokens)
					require.NoError(t, l[0].TokensErr)
				case c.Numbers[i] == nil:
					require.Error(t, l[0].TokensErr, size)
				default:
					require.NoError(t, l[0].TokensErr, size)
					require.Equal(t, *c.Numbers[i], l[0].Tokens, size)
				}
				hash.Write([]byte(pythonRepr(l[0].Text)))
				texts[i] = l[0].Text
				equal[c.Class]++
			}
			for _, s := range c.Samples {
				var index int
				var runs [][2]any
				require.NoError(t, json.Unmarshal(s, &[]any{&index, &runs}))
				require.Contains(t, texts, index)
				var want strings.Builder
				for _, r := range runs {
					want.WriteString(strings.Repeat(r[0].(string), int(r[1].(float64))))
				}
				require.Equal(t, want.String(), texts[index])
			}
			require.Equal(t, c.SHA256, hex.EncodeToString(hash.Sum(nil))[:16])

			for i, sizes := range g.Calls {
				l, err := p.Images(sizes...)
				var want []any
				require.NoError(t, json.Unmarshal(c.Several[i], &want))
				if want == nil {
					require.Error(t, err)
					continue
				}
				require.NoError(t, err)
				all := make([]string, len(l))
				for j := range l {
					require.Len(t, l[j].Text, int(want[j].(float64)))
					all[j] = pythonRepr(l[j].Text)
				}
				sum := sha256.Sum256([]byte("[" + strings.Join(all, ", ") + "]"))
				require.Equal(t, want[len(l)], hex.EncodeToString(sum[:])[:16])
			}
		})
	}
	for _, name := range Classes() {
		t.Log(name, equal[strings.TrimSuffix(name, suffix)])
		assert.NotZero(t, equal[strings.TrimSuffix(name, suffix)], name)
	}
}
