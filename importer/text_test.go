package importer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestText reads text in the forms in which it is saved and pasted.
func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"x": "x", "\xef\xbb\xbfx": "x", "\xff\xfex\x00\xe9\x00": "x\u00e9", "\xfe\xff\x00x": "x", "\xff\xfe=\xd8\x00\xde": "\U0001F600",
		"```\nx\n```": "x\n", "\n```json\nx\n```\n\n": "x\n", "```x```": "```x```",
		"```\nx": "```\nx", "```\nx\n```\ny": "```\nx\n```\ny", "\xff\xfex": "\xff\xfex", "": "",
	} {
		require.Equal(t, want, string(Text([]byte(in))), "%q", in)
	}
}

// TestParseLiteral reads Python literals. The right side is what Python 3.11's
// json.dumps writes for the left one.
func TestParseLiteral(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                       `{}`,
		`{'a': 1}`:                 `{"a": 1}`,
		`{"a": (1, 2), 'b': (3,)}`: `{"a": [1, 2], "b": [3]}`,
		`{'a': (1), 'b': ((2,)), 'c': (), 'd': ((1), 2)}`: `{"a": 1, "b": [2], "c": [], "d": [1, 2]}`,
		`{'a': True, 'b': False, 'c': None}`:              `{"a": true, "b": false, "c": null}`,
		`{'a': [1., .5, +1, -.5e3, 1e-05, -0.0], }`:       `{"a": [1.0, 0.5, 1, -0.5e3, 1e-05, -0.0]}`,
		`{'a': 'it\'s', "b": "\\ \" \n", 'c': 'x' 'y'}`:   `{"a": "it's", "b": "\\ \" \n", "c": "xy"}`,
		"{ # a comment\n 'a': 1, # another\n}":            `{"a": 1}`,
		"config = {'a': 1}\n":                             `{"a": 1}`,
		"dict(a=1, b=dict(c='x'),)":                       `{"a": 1, "b": {"c": "x"}}`,
		"PretrainedCfg(url='', input_size=(3, 224, 224))": `{"url": "", "input_size": [3, 224, 224]}`,
		"{'names': {0: 'person', 1: 'bicycle'}}":          `{"names": {"0": "person", "1": "bicycle"}}`,
		"```python\n{'a': 1}\n```":                        `{"a": 1}`,
		"\xef\xbb\xbf{'a': 'é'}":                          `{"a": "é"}`,
	} {
		got, err := ParseLiteral([]byte(in))
		require.NoError(t, err, in)
		o, err := Parse([]byte(want))
		require.NoError(t, err, in)
		require.Equal(t, plainValue(o), plainValue(got), in)
	}
	for in, part := range map[string]string{
		`{'a': 1`: "a comma", `{'a': }`: "want a value", `{'a' 1}`: "':' after a key", `{a: 1}`: "", `{'a': 1, 'a': 2}`: `duplicate key "a"`, `{'a': x}`: "want a value",
		`{'a': 'x`: "closing quotation mark", `{'a': '\q'}`: "escapes", `{'a': 1} x`: "the end", `dict(1)`: "NAME=VALUE", `_cfg(url='')`: "want a value", `{'a': 1-2}`: "a number",
		`{'a': 01}`: "a number", `('a',)`: "want an object", `{'a': nan}`: "want a value",
		strings.Repeat("{'a':", 100): "nested", "{'a': '\xff'}": "UTF-8",
	} {
		_, err := ParseLiteral([]byte(in))
		require.ErrorIs(t, err, ErrJSON, in)
		require.ErrorContains(t, err, part, in)
	}
}

func FuzzParseLiteral(f *testing.F) {
	for _, s := range []string{`{'a': (1, [2.]), "b": None}`, "x = dict(a='b' 'c')", "```\n{}\n```", "\xff\xfe{\x00}\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := ParseLiteral(b)
		require.Equal(t, err == nil, o != nil)
	})
}
