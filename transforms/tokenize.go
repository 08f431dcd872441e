package transforms

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// TokenRule splits text into tokens.
type TokenRule uint8

// The rules.
const (
	TokenCodePoints TokenRule = iota // code points, whose numbers are the ids; without a vocabulary
	TokenCharacters                  // code points, looked up in the vocabulary
	TokenWords                       // what white space separates, looked up in the vocabulary
	TokenPieces                      // the longest parts of each word that are in the vocabulary (WordPiece)
	TokenLetters                     // code points that are no white space, looked up in the vocabulary
)

var tokenRuleNames = []string{"code_points", "characters", "words", "pieces", "letters"}

func (r TokenRule) String() string { return enum.String("rule", tokenRuleNames, r) }

// MarshalText returns the name.
func (r TokenRule) MarshalText() ([]byte, error) { return enum.Format("rule", tokenRuleNames, r) }

// UnmarshalText parses the name.
func (r *TokenRule) UnmarshalText(t []byte) error { return enum.Parse(r, "rule", tokenRuleNames, t) }

// Tokenize splits text into tokens and returns their ids, an int32 vector. Text
// is a bytes scalar in UTF-8; other bytes are an ErrInput. The id of a token is
// its place in the vocabulary, from 0. A token that the vocabulary lacks has
// the id Unknown. Unicode's White_Space separates words. Rule letters leaves it
// out; for rule characters a space is a token that the vocabulary must have, or
// an unknown one.
//
// Rule pieces splits a word into the longest tokens of the vocabulary, from
// left to right. Tokens that continue a word begin with "##" in the vocabulary.
// A word that cannot be split, or has more than MaxBytes bytes, is one unknown
// token.
//
// As in MindSpore, text without tokens is one empty token for a rule with a
// vocabulary.
//
// Another tokenizer is an op of the program that needs it: a type with the
// methods of DataShaped, which the program gives to Register. Graphs, JSON,
// msgp and datasets then know it by its name. The example "Tokenizer" of
// package datagraph has one.
//
// Reference: MindSpore 2.10.0's UnicodeCharTokenizer, WhitespaceTokenizer and
// WordpieceTokenizer, each with Lookup; Python's ord for code points. MindSpore
// fails on a word whose beginning is in the vocabulary and whose rest is not.
// There the reference is WordPiece of tokenizers 0.23.3. Rule letters: Python's
// "".join(text.split()), looked up.
type Tokenize struct {
	Rule       TokenRule `json:"rule"`       // code_points, characters, words, pieces or letters
	Vocabulary TextList  `json:"vocabulary"` // the tokens by id, each once, at most 2^24; none for rule code_points
	Unknown    int       `json:"unknown"`    // id of a token that is not in the vocabulary; -1: it is an ErrInput; default -1
	MaxBytes   int       `json:"max_bytes"`  // of a word, for rule pieces, 1 to 2^24; default 100
}

//msgp:tuple Tokenize

// NewTokenize returns the op that refuses unknown tokens. ReadVocabulary reads
// the vocabulary from a file.
func NewTokenize(rule TokenRule, vocabulary ...string) *Tokenize {
	return &Tokenize{Rule: rule, Vocabulary: vocabulary, Unknown: -1, MaxBytes: 100}
}

// ReadVocabulary reads a file that has one token a line: the id of a token is
// the number of its line, from 0. An empty line is an empty token. Lines end
// with LF or CR LF.
func ReadVocabulary(r io.Reader) (TextList, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, errfmt.Errorf("transforms: vocabulary: %w", err)
	}
	var l TextList
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		l = append(l, line)
	}
	return l, nil
}

// Info describes the op.
func (*Tokenize) Info() Info {
	return Info{
		Name: "tokenize", Version: 1, New: func() Op { return NewTokenize(TokenCodePoints) },
		In: []string{"text"}, Out: []string{"ids"},
		Reference: "MindSpore 2.10.0 text.UnicodeCharTokenizer, WhitespaceTokenizer, WordpieceTokenizer and Lookup", Exactness: "0",
	}
}

// Validate checks the rule, the vocabulary, and that Unknown is an id.
func (o *Tokenize) Validate() error {
	if err := checkEnum("rule", o.Rule, tokenRuleNames); err != nil {
		return err
	}
	if n := len(o.Vocabulary); (n == 0) != (o.Rule == TokenCodePoints) || n > maxSide {
		return paramErr("vocabulary has %d tokens, want none for rule code_points, else 1 to %d", n, maxSide)
	}
	ids := make(map[string]int, len(o.Vocabulary))
	for i, s := range o.Vocabulary {
		if !utf8.ValidString(s) {
			return paramErr("vocabulary[%d] is %q, want UTF-8", i, s)
		}
		if k, ok := ids[s]; ok {
			return paramErr("vocabulary[%d] is %q, which vocabulary[%d] is too", i, s, k)
		}
		ids[s] = i
	}
	if o.Unknown < -1 || o.Unknown >= len(o.Vocabulary) {
		return paramErr("unknown is %d, want an id of the vocabulary or -1", o.Unknown)
	}
	return checkSide("max_bytes", o.MaxBytes)
}

// Infer describes a vector of ids.
func (o *Tokenize) Infer(dst, in []tensor.Desc) error {
	if err := in[0].Validate(); err != nil {
		return inputErr("%v", err)
	}
	if in[0].DType != tensor.Bytes {
		return inputErr("%v, want text: a bytes scalar", in[0])
	}
	dst[0] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(tensor.Unknown)}
	return nil
}

// InferData counts the tokens.
func (o *Tokenize) InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	n, err := o.scan(c, nil, src[0].Data)
	if err != nil {
		return err
	}
	dst[0] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(n)}
	return inferred(dst[0])
}

// Apply writes the ids.
func (o *Tokenize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	_, err := o.scan(c, tensor.View[int32](dst[0]), src[0].Data)
	return err
}

// tokenIDs is the vocabulary of an op as a map.
type tokenIDs struct {
	of      TextList
	ids     map[string]int32
	longest int // token, in bytes
}

// ids returns the map, which it makes in the Context's first run.
func (o *Tokenize) ids(c *Context) *tokenIDs {
	s, ok := c.State.(*tokenIDs)
	if ok && len(s.of) == len(o.Vocabulary) && (len(s.of) == 0 || &s.of[0] == &o.Vocabulary[0]) {
		return s
	}
	s = &tokenIDs{of: o.Vocabulary, ids: make(map[string]int32, len(o.Vocabulary))}
	for i, t := range o.Vocabulary {
		s.ids[t] = int32(i)
		s.longest = max(s.longest, len(t))
	}
	c.State = s
	return s
}

// tokens collects the ids of a text.
type tokens struct {
	*tokenIDs
	op  *Tokenize
	out []int32 // as many as there is room for
	n   int
	key []byte // a piece with its prefix
}

func (t *tokens) put(id int32) {
	if t.n < len(t.out) {
		t.out[t.n] = id
	}
	t.n++
}

// unknownToken adds the id of unknown tokens.
func (t *tokens) unknownToken(token []byte) error {
	if t.op.Unknown < 0 {
		return inputErr("token %q is not in the vocabulary", token[:min(len(token), 64)])
	}
	t.put(int32(t.op.Unknown))
	return nil
}

// add adds the id of a token.
func (t *tokens) add(token []byte) error {
	id, ok := t.ids[string(token)]
	if !ok {
		return t.unknownToken(token)
	}
	t.put(id)
	return nil
}

// scan writes the ids of text to out and returns their number, which may be
// larger than out.
func (o *Tokenize) scan(c *Context, out []int32, text []byte) (int, error) {
	if !utf8.Valid(text) {
		at := 0
		for {
			if r, n := utf8.DecodeRune(text[at:]); r != utf8.RuneError || n > 1 {
				at += n
				continue
			}
			return 0, inputErr("byte %d of %d is not UTF-8", at, len(text))
		}
	}
	t := tokens{tokenIDs: o.ids(c), op: o, out: out}
	t.key = c.Scratch(max(t.longest, len(continues)))
	var err error
	for at := 0; at < len(text) && err == nil; {
		r, n := utf8.DecodeRune(text[at:])
		switch {
		case o.Rule == TokenCodePoints:
			t.put(r)
		case o.Rule == TokenCharacters || o.Rule == TokenLetters && !unicode.IsSpace(r):
			err = t.add(text[at:][:n])
		case o.Rule != TokenLetters && !unicode.IsSpace(r):
			for n < len(text)-at {
				r, k := utf8.DecodeRune(text[at+n:])
				if unicode.IsSpace(r) {
					break
				}
				n += k
			}
			if word := text[at:][:n]; o.Rule == TokenWords {
				err = t.add(word)
			} else {
				err = t.pieces(word)
			}
		}
		at += n
	}
	if t.n == 0 && err == nil && o.Rule != TokenCodePoints {
		err = t.add(nil)
	}
	return t.n, err
}

// continues is in front of the tokens of a vocabulary that continue a word.
const continues = "##"

// pieces adds the parts of a word.
func (t *tokens) pieces(word []byte) error {
	if len(word) > t.op.MaxBytes {
		return t.unknownToken(word)
	}
	before, prefix := t.n, ""
	for rest := word; len(rest) > 0; prefix = continues {
		n := copy(t.key, prefix)
		n += copy(t.key[n:], rest)
		for end := n; ; end-- {
			if end == len(prefix) {
				t.n = before
				return t.unknownToken(word)
			}
			used := end - len(prefix)
			if used < len(rest) && !utf8.RuneStart(rest[used]) {
				continue
			}
			if id, ok := t.ids[string(t.key[:end])]; ok {
				t.put(id)
				rest = rest[used:]
				break
			}
		}
	}
	return nil
}
