package subwords

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenizer is tokenizer.json with a byte-level BPE model.
type tokenizer struct {
	vocab    map[string]int32
	merges   map[[2]int32]merged
	unknown  int32 // -1 for none
	fuse     bool
	whole    bool // a word of the vocabulary is not merged
	prefix   bool
	words    bool // split by the pattern of GPT-2
	added    []added
	literal  [256]string // the character of a byte
	literals [256]int32  // its id, or -1
}

// merged is what two ids become.
type merged struct {
	rank int
	id   int32
}

// added is a token that is found in text as it is.
type added struct {
	text []byte
	id   int32
	late bool // found in what is left by the others
}

// file is tokenizer.json.
type file struct {
	Added []struct {
		ID         int32  `json:"id"`
		Content    string `json:"content"`
		SingleWord bool   `json:"single_word"`
		LStrip     bool   `json:"lstrip"`
		RStrip     bool   `json:"rstrip"`
		Normalized bool   `json:"normalized"`
	} `json:"added_tokens"`
	Normalizer   *typed `json:"normalizer"`
	PreTokenizer *struct {
		Type   string `json:"type"`
		Prefix bool   `json:"add_prefix_space"`
		Regex  *bool  `json:"use_regex"`
	} `json:"pre_tokenizer"`
	Model struct {
		Type     string            `json:"type"`
		Dropout  *float64          `json:"dropout"`
		Unknown  *string           `json:"unk_token"`
		Prefix   *string           `json:"continuing_subword_prefix"`
		Suffix   *string           `json:"end_of_word_suffix"`
		Fuse     bool              `json:"fuse_unk"`
		Fallback bool              `json:"byte_fallback"`
		Whole    bool              `json:"ignore_merges"`
		Vocab    json.RawMessage   `json:"vocab"`
		Merges   []json.RawMessage `json:"merges"`
	} `json:"model"`
}

type typed struct {
	Type string `json:"type"`
}

// parseTokenizer parses tokenizer.json.
func parseTokenizer(b []byte) (*tokenizer, error) {
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	empty := func(s *string) bool { return s == nil || *s == "" }
	switch m := &f.Model; {
	case m.Type != "BPE":
		return nil, fmt.Errorf("tokenizer.json: a model of type %q, want BPE", m.Type)
	case m.Dropout != nil && *m.Dropout != 0:
		return nil, errors.New("tokenizer.json: dropout, which is random")
	case !empty(m.Prefix) || !empty(m.Suffix):
		return nil, errors.New("tokenizer.json: continuing_subword_prefix or end_of_word_suffix, want none")
	case m.Fallback:
		return nil, errors.New("tokenizer.json: byte_fallback, want a byte-level model, or the .model file")
	case f.Normalizer != nil:
		return nil, fmt.Errorf("tokenizer.json: the normalizer %q, want none", f.Normalizer.Type)
	case f.PreTokenizer == nil || f.PreTokenizer.Type != "ByteLevel":
		kind := "none"
		if f.PreTokenizer != nil {
			kind = f.PreTokenizer.Type
		}
		return nil, fmt.Errorf("tokenizer.json: the pre-tokenizer %s, want ByteLevel", kind)
	}
	t := &tokenizer{
		merges: map[[2]int32]merged{}, unknown: -1, fuse: f.Model.Fuse, whole: f.Model.Whole, prefix: f.PreTokenizer.Prefix,
		words: f.PreTokenizer.Regex == nil || *f.PreTokenizer.Regex,
	}
	if err := json.Unmarshal(f.Model.Vocab, &t.vocab); err != nil {
		return nil, fmt.Errorf("tokenizer.json: vocab: %w", err)
	}
	if f.Model.Unknown != nil {
		id, ok := t.vocab[*f.Model.Unknown]
		if !ok {
			return nil, fmt.Errorf("tokenizer.json: unk_token %q is not in the vocabulary", *f.Model.Unknown)
		}
		t.unknown = id
	}
	for i, raw := range f.Model.Merges {
		var two [2]string
		var line string
		ok := true
		if err := json.Unmarshal(raw, &line); err == nil {
			two[0], two[1], ok = strings.Cut(line, " ")
		} else if err := json.Unmarshal(raw, &two); err != nil {
			return nil, fmt.Errorf("tokenizer.json: merges[%d]: %w", i, err)
		}
		a, okA := t.vocab[two[0]]
		b, okB := t.vocab[two[1]]
		ab, okAB := t.vocab[two[0]+two[1]]
		if !ok || !okA || !okB || !okAB {
			return nil, fmt.Errorf("tokenizer.json: merges[%d] is %.80s: want two tokens of the vocabulary, which has both together", i, raw)
		}
		t.merges[[2]int32{a, b}] = merged{i, ab}
	}
	for _, a := range f.Added {
		if a.SingleWord || a.LStrip || a.RStrip || a.Content == "" {
			return nil, fmt.Errorf("tokenizer.json: the added token %q with single_word, lstrip or rstrip, or empty", a.Content)
		}
		t.added = append(t.added, added{[]byte(a.Content), a.ID, a.Normalized})
	}
	// Bytes that print are themselves, the others the characters from 256 on.
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			r = next
			next++
		}
		t.literal[b], t.literals[b] = string(r), -1
		if id, ok := t.vocab[string(r)]; ok {
			t.literals[b] = id
		}
	}
	return t, nil
}

// ids implements splitter.
func (t *tokenizer) ids(w *work, text []byte) error {
	t.split(w, text, false)
	return nil
}

// split takes the added tokens out of text: at each place the longest. The late
// ones are found in what is left by the others.
func (t *tokenizer) split(w *work, text []byte, late bool) {
	rest := func(text []byte) {
		switch {
		case len(text) == 0:
		case late:
			t.pretokenize(w, text)
		default:
			t.split(w, text, true)
		}
	}
	begin := 0
	for at := 0; at < len(text); {
		best := -1
		for i, a := range t.added {
			if a.late == late && (best < 0 || len(a.text) > len(t.added[best].text)) && bytes.HasPrefix(text[at:], a.text) {
				best = i
			}
		}
		if best < 0 {
			at++
			continue
		}
		rest(text[begin:at])
		w.out = append(w.out, t.added[best].id)
		at += len(t.added[best].text)
		begin = at
	}
	rest(text[begin:])
}

// pretokenize splits text into words.
func (t *tokenizer) pretokenize(w *work, text []byte) {
	if t.prefix && text[0] != ' ' {
		text = append([]byte{' '}, text...)
	}
	for len(text) > 0 {
		n := len(text)
		if t.words {
			n = word(text)
		}
		t.word(w, text[:n])
		text = text[n:]
	}
}

// contractions are the endings that are words of their own.
var contractions = [][]byte{[]byte("'s"), []byte("'t"), []byte("'re"), []byte("'ve"), []byte("'m"), []byte("'ll"), []byte("'d")}

// class returns the kind of a character: space, letter, number or another.
func class(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case unicode.IsLetter(r):
		return 1
	case unicode.IsNumber(r):
		return 2
	}
	return 3
}

// word returns the length of the first word by the pattern of GPT-2:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func word(text []byte) int {
	for _, c := range contractions {
		if bytes.HasPrefix(text, c) {
			return len(c)
		}
	}
	at := 0
	r, _ := utf8.DecodeRune(text)
	if r == ' ' && len(text) > 1 {
		if after, _ := utf8.DecodeRune(text[1:]); class(after) != 0 {
			at, r = 1, after
		}
	}
	kind, last := class(r), 0
	for at < len(text) {
		r, n := utf8.DecodeRune(text[at:])
		if class(r) != kind {
			break
		}
		last = n
		at += n
	}
	// The last space before a word belongs to that word, or is one of its own.
	if kind == 0 && at < len(text) && at > last {
		at -= last
	}
	return at
}

// word merges the bytes of a word.
func (t *tokenizer) word(w *work, text []byte) {
	if t.whole {
		w.text = w.text[:0]
		for _, b := range text {
			w.text = append(w.text, t.literal[b]...)
		}
		if id, ok := t.vocab[string(w.text)]; ok {
			w.out = append(w.out, id)
			return
		}
	}
	w.links = w.links[:0]
	unknown := -1 // where the last symbols are unknown, with fuse
	for at, b := range text {
		id := t.literals[b]
		switch {
		case id < 0 && t.unknown < 0:
			continue // as the reference does
		case id < 0 && t.fuse && unknown >= 0:
			w.links[unknown].to = at + 1
			continue
		case id < 0:
			id, unknown = t.unknown, len(w.links)
		default:
			unknown = -1
		}
		w.links = append(w.links, symbol{from: at, to: at + 1, prev: len(w.links) - 1, next: len(w.links) + 1, id: id})
	}
	if len(w.links) == 0 {
		return
	}
	w.links[len(w.links)-1].next = -1
	w.merge(func(l, r *symbol) (int32, float64, bool) {
		m, ok := t.merges[[2]int32{l.id, r.id}]
		return m.id, float64(m.rank), ok
	}, func(p *pair, l, r *symbol) bool {
		m, ok := t.merges[[2]int32{l.id, r.id}]
		return ok && m.id == p.id
	})
	for i := 0; i >= 0; i = w.links[i].next {
		w.out = append(w.out, w.links[i].id)
	}
}
