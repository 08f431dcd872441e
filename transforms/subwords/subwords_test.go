package subwords

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// model returns a model of testdata.
func model(t testing.TB, name string) []byte {
	f, err := os.Open(filepath.Join("testdata", name+".gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	return b
}

// ids runs an op.
func ids(t testing.TB, c *transforms.Context, op transforms.Op, text string) []int32 {
	in := []*tensor.Tensor{tensor.FromBytes([]byte(text))}
	d := make([]tensor.Desc, 1)
	require.NoError(t, op.(transforms.DataShaped).InferData(c, d, in))
	out, err := tensor.New(d[0])
	require.NoError(t, err)
	require.NoError(t, op.Apply(c, []*tensor.Tensor{out}, in))
	return append([]int32{}, tensor.View[int32](out)...)
}

// TestReferences compares the ids of over 250 texts with those of sentencepiece
// and tokenizers.
func TestReferences(t *testing.T) {
	b, err := os.ReadFile("testdata/ids.json")
	require.NoError(t, err)
	var f struct {
		Texts []string
		Cases []struct {
			Model string
			IDs   [][]int32
		}
	}
	require.NoError(t, json.Unmarshal(b, &f))
	require.Len(t, f.Cases, 8)
	compared := 0
	for _, c := range f.Cases {
		m := model(t, c.Model)
		op := New(m)
		require.NoError(t, op.Validate())
		ctx := &transforms.Context{}
		for i, text := range f.Texts {
			require.Equal(t, c.IDs[i], ids(t, ctx, op, text), "%s: text %d: %q", c.Model, i, text)
			compared++
		}
	}
	require.Equal(t, 8*len(f.Texts), compared)

	vocab, err := os.ReadFile("testdata/vocab.json")
	require.NoError(t, err)
	merges, err := os.ReadFile("testdata/merges.txt")
	require.NoError(t, err)
	op, err := Merges(vocab, merges, false)
	require.NoError(t, err)
	for i, text := range f.Texts {
		if !strings.Contains(text, "<") { // an added token, which these files lack
			require.Equal(t, f.Cases[5].IDs[i], ids(t, &transforms.Context{}, op, text), "%q", text)
		}
	}
}

// TestForms: JSON and msgp keep the model; tokenizer.json is an object.
func TestForms(t *testing.T) {
	for _, name := range []string{"bpe.model", "gpt2.json"} {
		op := New(model(t, name))
		b, err := transforms.MarshalParams(op)
		require.NoError(t, err)
		back, err := transforms.MakeOp("subwords", b)
		require.NoError(t, err)
		require.Equal(t, ids(t, &transforms.Context{}, op, "it's a test"), ids(t, &transforms.Context{}, back, "it's a test"))
		again, err := transforms.MarshalParams(back)
		require.NoError(t, err)
		require.Equal(t, string(b), string(again))
		m, err := back.(*Op).MarshalMsg(nil)
		require.NoError(t, err)
		require.LessOrEqual(t, len(m), back.(*Op).Msgsize())
		var x Op
		rest, err := x.UnmarshalMsg(m)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, back, &x)
		for cut := range min(len(m), 50) {
			_, err := new(Op).UnmarshalMsg(m[:cut])
			require.Error(t, err)
		}
	}
	for _, text := range []string{`{}`, `{"model": 5}`, `{"model": "?"}`, `{"model": []}`} {
		_, err := transforms.MakeOp("subwords", []byte(text))
		require.Error(t, err, text)
	}
	// A Context's memory is that of the op that ran last.
	c := &transforms.Context{}
	for _, name := range []string{"bpe.model", "gpt2.json", "bpe.model"} {
		op := New(model(t, name))
		require.Equal(t, ids(t, &transforms.Context{}, op, "the licence"), ids(t, c, op, "the licence"))
	}
}

// TestRefuses: what would not give the reference's ids is an error of the
// model, and text must be UTF-8.
func TestRefuses(t *testing.T) {
	good := `{"normalizer": null, "pre_tokenizer": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}`
	require.NoError(t, New([]byte(good)).Validate())
	for _, c := range []struct{ old, now, want string }{
		{`"BPE"`, `"Unigram"`, `a model of type "Unigram", want BPE`},
		{`"normalizer": null`, `"normalizer": {"type": "NFC"}`, `the normalizer "NFC", want none`},
		{`{"type": "ByteLevel"}`, `{"type": "Metaspace"}`, "the pre-tokenizer Metaspace, want ByteLevel"},
		{`{"type": "ByteLevel"}`, `null`, "the pre-tokenizer none, want ByteLevel"},
		{`"BPE"`, `"BPE", "dropout": 0.1`, "dropout, which is random"},
		{`"BPE"`, `"BPE", "byte_fallback": true`, "byte_fallback"},
		{`"BPE"`, `"BPE", "end_of_word_suffix": "</w>"`, "end_of_word_suffix"},
		{`"BPE"`, `"BPE", "unk_token": "?"`, `unk_token "?" is not in the vocabulary`},
		{`["a b"]`, `["ab"]`, "merges[0]"},
		{`["a b"]`, `[["b", "a"]]`, "merges[0]"},
		{`["a b"]`, `[7]`, "merges[0]"},
		{`"normalizer": null`, `"added_tokens": [{"content": "x", "lstrip": true}]`, `the added token "x" with`},
		{`{"a": 0`, `{"a": "0"`, "vocab"},
		{`{"n`, `{n`, "tokenizer.json: invalid character"},
	} {
		require.Contains(t, good, c.old)
		err := New([]byte(strings.Replace(good, c.old, c.now, 1))).Validate()
		require.ErrorIs(t, err, transforms.ErrParam)
		require.ErrorContains(t, err, c.want)
	}
	piece := func(text string, kind byte) string {
		p := "\n" + string(rune(len(text))) + text + "\x15\x00\x00\x80\xbf\x18" + string(rune(kind))
		return "\n" + string(rune(len(p))) + p
	}
	for want, m := range map[string]string{
		"no model, want the content":                 "",
		"no model of SentencePiece, and no JSON":     "hello",
		"a model without a piece for unknown text":   piece("a", normalPiece),
		"a model of type 3":                          piece("a", unknownPiece) + "\x12\x02\x18\x03",
		"two pieces for unknown text":                piece("a", unknownPiece) + piece("b", unknownPiece),
		`piece 1, "a", is there twice`:               piece("a", normalPiece) + piece("a", normalPiece),
		"piece 0 has the type 9":                     piece("a", 9),
		"piece 0 is empty":                           piece("", 1),
		"byte fallback without the piece <0x00>":     piece("a", unknownPiece) + "\x12\x03\x98\x02\x01",
		"precompiled_charsmap with an array of 1284": "\x1a\x07\x12\x05\x04\x05\x00\x00\x00",
		"precompiled_charsmap of less than 4":        "\x1a\x05\x12\x03\x04\x05\x00",
	} {
		err := New([]byte(m)).Validate()
		require.ErrorIs(t, err, transforms.ErrParam)
		require.ErrorContains(t, err, want)
	}
	_, err := Merges([]byte("{"), nil, false)
	require.ErrorContains(t, err, "vocab.json")
	_, err = Merges([]byte(`{"a": 0}`), []byte("a a\n"), false)
	require.ErrorContains(t, err, "merges[0]")
	op := New([]byte(good))
	err = op.InferData(&transforms.Context{}, make([]tensor.Desc, 1), []*tensor.Tensor{tensor.FromBytes([]byte("a\xff"))})
	require.ErrorIs(t, err, transforms.ErrInput)
	require.ErrorIs(t, op.Infer(make([]tensor.Desc, 1), []tensor.Desc{{DType: tensor.Uint8}}), transforms.ErrInput)
}

func FuzzModel(f *testing.F) {
	for _, name := range []string{"bpe.model", "unigram_user.model", "gpt2.json"} {
		f.Add(model(f, name), "Größe the  licence's 東京 <user>")
	}
	f.Fuzz(func(t *testing.T, m []byte, text string) {
		op := New(m)
		if op.Validate() != nil {
			return
		}
		in := []*tensor.Tensor{tensor.FromBytes([]byte(text))}
		_ = op.InferData(&transforms.Context{}, make([]tensor.Desc, 1), in)
	})
}

// BenchmarkSubwords splits a paragraph.
func BenchmarkSubwords(b *testing.B) {
	text := strings.Repeat("Unless required by applicable law or agreed to in writing, software is distributed on an AS IS BASIS. ", 10)
	in := []*tensor.Tensor{tensor.FromBytes([]byte(text))}
	for _, name := range []string{"unigram.model", "bpe.model", "gpt2.json"} {
		b.Run(name, func(b *testing.B) {
			op, c, d := New(model(b, name)), &transforms.Context{}, make([]tensor.Desc, 1)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := op.InferData(c, d, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
