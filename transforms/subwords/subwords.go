// Package subwords splits text by the models of SentencePiece and of Hugging
// Face's tokenizers: it registers the op subwords. A graph contains the model.
package subwords

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/msgpack"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

//go:generate go run ../../tools/msgpgen

// Op splits text into the pieces of a trained model and returns their ids, an
// int32 vector. Text is a bytes scalar in UTF-8; other bytes are an ErrInput.
// It adds no tokens for begin or end. Text without pieces has no ids.
//
// The model is one of these:
//
//   - A .model file of SentencePiece, with a unigram or BPE model, its
//     normalization rules, user-defined pieces and byte fallback. Word and
//     character models are refused.
//   - A tokenizer.json with a BPE model whose pre-tokenizer is ByteLevel, as
//     GPT-2 and RoBERTa have it, or the vocab.json and merges.txt of such a
//     model, from which Merges makes one. Added tokens are found in the text.
//     Refused are normalizers, other models and pre-tokenizers, added tokens
//     with lstrip, rstrip or single_word, and prefixes or suffixes of pieces.
//     The post-processor, truncation and padding are not run.
//
// Reference: sentencepiece 0.2.3's EncodeAsIds, and tokenizers 0.23.3's encode
// with add_special_tokens=False.
type Op struct {
	Model Model `json:"model"` // the content of the file: tokenizer.json as it is, a .model file in base64
}

//msgp:tuple Op

// Model is the content of a model's file, at most 64 MiB. In JSON, and in msgp
// as a text of JSON, tokenizer.json is an object and a .model file is base64.
type Model []byte

// maxModel is the most bytes of a model.
const maxModel = 64 << 20

func (m Model) text() bool { return bytes.HasPrefix(bytes.TrimLeft(m, " \t\r\n"), []byte("{")) }

// MarshalJSON returns an object or base64.
func (m Model) MarshalJSON() ([]byte, error) {
	if !m.text() {
		return json.Marshal(append([]byte{}, m...))
	}
	var b bytes.Buffer
	if err := json.Compact(&b, m); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// UnmarshalJSON parses what MarshalJSON returns.
func (m *Model) UnmarshalJSON(b []byte) error {
	if len(b) > 2*maxModel {
		return fmt.Errorf("a model of %d bytes, want at most %d", len(b), maxModel)
	}
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '{' {
		var c bytes.Buffer
		if err := json.Compact(&c, b); err != nil {
			return err
		}
		*m = c.Bytes()
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a model is an object or text: %w", err)
	}
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return fmt.Errorf("a model as text is base64: %w", err)
	}
	*m = raw
	return nil
}

// MarshalMsg appends the msgp form.
func (m Model) MarshalMsg(b []byte) ([]byte, error) {
	t, err := m.MarshalJSON()
	return msgpack.AppendString(b, string(t)), err
}

// UnmarshalMsg reads the msgp form and returns the rest of b.
func (m *Model) UnmarshalMsg(b []byte) (rest []byte, err error) {
	s, rest, err := msgpack.ReadString(b)
	if err == nil {
		err = m.UnmarshalJSON([]byte(s))
	}
	return rest, err
}

// Msgsize returns an upper bound of the size of the msgp form.
func (m Model) Msgsize() int { return msgpack.HeaderSize + 2 + 2*len(m) }

// splitter is a parsed model. It does not change.
type splitter interface {
	// ids appends the ids of text, which is UTF-8. w is memory for a run.
	ids(w *work, text []byte) error
}

var (
	parsedMu sync.Mutex
	parsed   []parsedModel // those used last are at the end
)

type parsedModel struct {
	of Model
	s  splitter
}

// parse parses a model, or returns it from the last eight.
func (m Model) parse() (splitter, error) {
	parsedMu.Lock()
	defer parsedMu.Unlock()
	for i, p := range parsed {
		if bytes.Equal(p.of, m) {
			parsed = append(append(parsed[:i], parsed[i+1:]...), p)
			return p.s, nil
		}
	}
	if len(m) > maxModel {
		return nil, fmt.Errorf("a model of %d bytes, want at most %d", len(m), maxModel)
	}
	var s splitter
	var err error
	if m.text() {
		s, err = parseTokenizer(m)
	} else {
		s, err = parsePieces(m)
	}
	if err != nil {
		return nil, err
	}
	if len(parsed) == 8 {
		parsed = append(parsed[:0], parsed[1:]...)
	}
	parsed = append(parsed, parsedModel{m, s})
	return s, nil
}

func init() { transforms.Register((*Op)(nil)) }

// New returns the op of the content of a .model file or of tokenizer.json.
func New(model []byte) *Op { return &Op{Model: model} }

// Merges returns the op of the content of vocab.json and merges.txt, with the
// byte-level pre-tokenizer that such models have. prefix puts a space in front
// of text without one, which RoBERTa's tokenizers do not do by default either.
func Merges(vocab, merges []byte, prefix bool) (*Op, error) {
	var pairs []string
	for line := range strings.Lines(string(merges)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && !strings.HasPrefix(line, "#version") {
			pairs = append(pairs, line)
		}
	}
	b, err := json.Marshal(map[string]any{
		"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": prefix, "use_regex": true},
		"model":         map[string]any{"type": "BPE", "vocab": json.RawMessage(vocab), "merges": pairs},
	})
	if err != nil {
		return nil, fmt.Errorf("subwords: vocab.json: %w", err)
	}
	o := New(b)
	return o, o.Validate()
}

// Info describes the op.
func (*Op) Info() transforms.Info {
	return transforms.Info{
		Name: "subwords", Version: 1, New: func() transforms.Op { return &Op{} },
		In: []string{"text"}, Out: []string{"ids"},
		Reference: "sentencepiece 0.2.3 EncodeAsIds; tokenizers 0.23.3 encode", Exactness: "0",
	}
}

// Validate parses the model.
func (o *Op) Validate() error {
	if len(o.Model) == 0 {
		return fmt.Errorf("%w: no model, want the content of a .model file or of tokenizer.json", transforms.ErrParam)
	}
	if _, err := o.Model.parse(); err != nil {
		return fmt.Errorf("%w: model: %w", transforms.ErrParam, err)
	}
	return nil
}

// Infer describes a vector of ids.
func (o *Op) Infer(dst, in []tensor.Desc) error {
	if in[0].DType != tensor.Bytes {
		return fmt.Errorf("%w: %v, want text: a bytes scalar", transforms.ErrInput, in[0])
	}
	dst[0] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(tensor.Unknown)}
	return nil
}

// work is the memory of a run.
type work struct {
	of     Model
	s      splitter
	out    []int32
	text   []byte
	best   []bestPath
	links  []symbol
	agenda agenda
}

// run splits text.
func (o *Op) run(c *transforms.Context, text []byte) ([]int32, error) {
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: text is not UTF-8", transforms.ErrInput)
	}
	w, ok := c.State.(*work)
	if !ok || len(w.of) != len(o.Model) || &w.of[0] != &o.Model[0] {
		s, err := o.Model.parse()
		if err != nil {
			return nil, fmt.Errorf("%w: model: %w", transforms.ErrParam, err)
		}
		w = &work{of: o.Model, s: s}
		c.State = w
	}
	w.out = w.out[:0]
	if err := w.s.ids(w, text); err != nil {
		return nil, fmt.Errorf("%w: %w", transforms.ErrInput, err)
	}
	return w.out, nil
}

// InferData counts the pieces.
func (o *Op) InferData(c *transforms.Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	ids, err := o.run(c, src[0].Data)
	if err == nil {
		dst[0] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(len(ids))}
	}
	return err
}

// Apply writes the ids.
func (o *Op) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	ids, err := o.run(c, src[0].Data)
	if err == nil {
		copy(tensor.View[int32](dst[0]), ids)
	}
	return err
}
