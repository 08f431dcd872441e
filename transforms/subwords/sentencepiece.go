package subwords

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/protowire"
)

// The types of pieces, and of models.
const (
	normalPiece  = 1
	unknownPiece = 2
	controlPiece = 3
	userPiece    = 4
	unusedPiece  = 5
	bytePiece    = 6

	unigramModel = 1
	bpeModel     = 2
)

// Limits of a model: its pieces, the bytes of one, and the beginnings of all.
const (
	maxPieces = 1 << 22
	maxPiece  = 1 << 10
	maxStarts = 1 << 24
)

// piece is a piece of a model.
type piece struct {
	text  string
	score float32
	kind  uint64
}

// pieces is a model of SentencePiece.
type pieces struct {
	list     []piece
	normal   map[string]int32 // normal, user-defined and unused ones
	other    map[string]int32
	user     map[string]bool
	longest  int // bytes of a normal, user-defined or unused piece
	longUser int
	starts   map[string]bool // beginnings of normal pieces, to end a search
	unknown  int32
	bytes    [256]int32 // with fallback
	fallback bool
	bpe      bool
	suffix   bool // a space is the end of a word
	min, max float32

	charsmap []byte // units of a double array
	replaced []byte
	prefix   bool // put a space in front
	squeeze  bool // one space in place of several
	escape   bool // spaces are U+2581
}

// message calls f for each field of a message. Numbers are v, others b.
func message(b []byte, what string, f func(n protowire.Number, v uint64, b []byte) error) error {
	for len(b) > 0 {
		n, kind, k := protowire.ConsumeTag(b)
		if k < 0 {
			return fmt.Errorf("%s: %w", what, protowire.ParseError(k))
		}
		b = b[k:]
		var v uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			v, k = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, k = protowire.ConsumeFixed32(b)
			v = uint64(x)
		case protowire.BytesType:
			text, k = protowire.ConsumeBytes(b)
		default:
			k = protowire.ConsumeValue(kind, b)
		}
		if k < 0 {
			return fmt.Errorf("%s: field %d: %w", what, n, protowire.ParseError(k))
		}
		b = b[k:]
		if err := f(n, v, text); err != nil {
			return err
		}
	}
	return nil
}

// parsePieces parses a ModelProto.
func parsePieces(b []byte) (*pieces, error) {
	m := &pieces{
		normal: map[string]int32{}, other: map[string]int32{}, user: map[string]bool{}, starts: map[string]bool{}, unknown: -1,
		prefix: true, squeeze: true, escape: true, min: math.MaxFloat32, max: 0x1p-126,
	}
	kind := uint64(unigramModel)
	err := message(b, "no model of SentencePiece, and no JSON", func(n protowire.Number, _ uint64, b []byte) error {
		switch n {
		case 1:
			p := piece{kind: normalPiece}
			if err := message(b, "a piece", func(n protowire.Number, v uint64, b []byte) error {
				switch n {
				case 1:
					p.text = string(b)
				case 2:
					p.score = math.Float32frombits(uint32(v))
				case 3:
					p.kind = v
				}
				return nil
			}); err != nil {
				return err
			}
			return m.add(p)
		case 2:
			return message(b, "trainer_spec", func(n protowire.Number, v uint64, _ []byte) error {
				switch n {
				case 3:
					kind = v
				case 24:
					m.suffix = v != 0
				case 35:
					m.fallback = v != 0
				}
				return nil
			})
		case 3:
			return message(b, "normalizer_spec", func(n protowire.Number, v uint64, b []byte) error {
				switch n {
				case 2:
					return m.setCharsmap(b)
				case 3:
					m.prefix = v != 0
				case 4:
					m.squeeze = v != 0
				case 5:
					m.escape = v != 0
				}
				return nil
			})
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case kind != unigramModel && kind != bpeModel:
		return nil, fmt.Errorf("a model of type %d, want 1 (unigram) or 2 (BPE)", kind)
	case m.unknown < 0:
		return nil, errors.New("a model without a piece for unknown text")
	}
	m.bpe = kind == bpeModel
	if m.fallback {
		for i := range m.bytes {
			id, ok := m.other[fmt.Sprintf("<0x%02X>", i)]
			if !ok {
				return nil, fmt.Errorf("byte fallback without the piece <0x%02X>", i)
			}
			m.bytes[i] = id
		}
	}
	return m, nil
}

// add adds a piece.
func (m *pieces) add(p piece) error {
	id := int32(len(m.list))
	if id == maxPieces {
		return fmt.Errorf("more than %d pieces", maxPieces)
	}
	if p.text == "" || len(p.text) > maxPiece || p.score != p.score {
		return fmt.Errorf("piece %d is empty, has more than %d bytes, or its score is no number", id, maxPiece)
	}
	m.list = append(m.list, p)
	to := m.other
	switch p.kind {
	case normalPiece, userPiece, unusedPiece:
		to = m.normal
		m.longest = max(m.longest, len(p.text))
		for i := 1; i < len(p.text); i++ {
			m.starts[p.text[:i]] = true
		}
		if len(m.starts) > maxStarts {
			return fmt.Errorf("pieces with more than %d beginnings", maxStarts)
		}
		if p.kind == userPiece {
			m.user[p.text] = true
			m.longUser = max(m.longUser, len(p.text))
		}
		if p.kind == normalPiece {
			m.min, m.max = min(m.min, p.score), max(m.max, p.score)
		}
	case unknownPiece:
		if m.unknown >= 0 {
			return errors.New("two pieces for unknown text")
		}
		m.unknown = id
	case controlPiece, bytePiece:
	default:
		return fmt.Errorf("piece %d has the type %d", id, p.kind)
	}
	if _, twice := to[p.text]; twice {
		return fmt.Errorf("piece %d, %.40q, is there twice", id, p.text)
	}
	to[p.text] = id
	return nil
}

// setCharsmap sets the rules of normalization: the size of a double array, the
// array, and texts that end with 0.
func (m *pieces) setCharsmap(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if len(b) < 4 {
		return errors.New("precompiled_charsmap of less than 4 bytes")
	}
	n := binary.LittleEndian.Uint32(b)
	if b = b[4:]; uint64(n) > uint64(len(b)) || n%4 != 0 || n < 1024 || b[len(b)-1] != 0 {
		return fmt.Errorf("precompiled_charsmap with an array of %d bytes, %d follow", n, len(b))
	}
	m.charsmap, m.replaced = b[:n], b[n:]
	return nil
}

// unit returns a unit of the double array, or 0 outside it.
func (m *pieces) unit(at uint32) uint32 {
	if uint64(at)*4+4 > uint64(len(m.charsmap)) {
		return 0
	}
	return binary.LittleEndian.Uint32(m.charsmap[4*at:])
}

// rule returns the longest rule at the beginning of text: how many bytes it
// takes, 0 if there is none, and what replaces them.
func (m *pieces) rule(text []byte) (n int, by []byte) {
	if m.charsmap == nil {
		return 0, nil
	}
	offset := func(u uint32) uint32 { return (u >> 10) << ((u & (1 << 9)) >> 6) }
	value := uint32(0)
	at := offset(m.unit(0))
	// The reference keeps the first 32 rules.
	for i, found := 0, 0; i < len(text) && found < 32; i++ {
		at ^= uint32(text[i])
		u := m.unit(at)
		if u&(1<<31|0xff) != uint32(text[i]) {
			break
		}
		at ^= offset(u)
		if u>>8&1 == 1 {
			n, value = i+1, m.unit(at)&(1<<31-1)
			found++
		}
	}
	if n == 0 || uint64(value) >= uint64(len(m.replaced)) {
		return 0, nil
	}
	by = m.replaced[value:]
	return n, by[:bytes.IndexByte(by, 0)] // the last byte is 0
}

// defined returns the length of the longest user-defined piece at the beginning
// of text, or 0.
func (m *pieces) defined(text []byte) int {
	for n := min(len(text), m.longUser); n > 0; n-- {
		if m.user[string(text[:n])] {
			return n
		}
	}
	return 0
}

var space = []byte("\u2581")

// normalize appends normalized text to to.
func (m *pieces) normalize(to, text []byte) []byte {
	prefix := func(text []byte) ([]byte, int) {
		if n := m.defined(text); n > 0 {
			return text[:n], n
		}
		if n, by := m.rule(text); n > 0 {
			return by, n
		}
		_, n := utf8.DecodeRune(text)
		return text[:n], n
	}
	if m.squeeze {
		for len(text) > 0 {
			p, n := prefix(text)
			if string(p) != " " {
				break
			}
			text = text[n:]
		}
	}
	if len(text) == 0 {
		return to
	}
	blank := []byte(" ")
	if m.escape {
		blank = space
	}
	begin := len(to)
	if !m.suffix && m.prefix {
		to = append(to, blank...)
	}
	for before := m.squeeze; len(text) > 0; {
		p, n := prefix(text)
		for before && len(p) > 0 && p[0] == ' ' {
			p = p[1:]
		}
		if len(p) > 0 {
			for _, c := range p {
				if c == ' ' {
					to = append(to, blank...)
				} else {
					to = append(to, c)
				}
			}
			before = p[len(p)-1] == ' '
		}
		text = text[n:]
		before = before && m.squeeze
	}
	if m.squeeze {
		for bytes.HasSuffix(to[begin:], blank) {
			to = to[:len(to)-len(blank)]
		}
	}
	if m.suffix && m.prefix {
		to = append(to, blank...)
	}
	return to
}

// ids implements splitter.
func (m *pieces) ids(w *work, text []byte) error {
	w.text = m.normalize(w.text[:0], text)
	if m.bpe {
		m.mergePieces(w)
	} else {
		m.bestPath(w)
	}
	return nil
}

// put adds a piece of the text. Neighbouring unknown ones are one.
func (m *pieces) put(w *work, from, to int, id int32, unknownBefore bool) (unknown bool) {
	if unknown = id == m.unknown; !unknown {
		w.out = append(w.out, id)
	} else if m.fallback {
		for _, c := range w.text[from:to] {
			w.out = append(w.out, m.bytes[c])
		}
	} else if !unknownBefore {
		w.out = append(w.out, id)
	}
	return unknown
}

// bestPath is the best way to a place in the text.
type bestPath struct {
	id    int32
	score float32
	from  int // -1 for none
}

// charLen returns the bytes of the character that begins with b.
func charLen(b byte) int {
	switch {
	case b < 0xc0:
		return 1
	case b < 0xe0:
		return 2
	case b < 0xf0:
		return 3
	}
	return 4
}

// bestPath finds the most probable pieces of a unigram model. It sums as the
// reference does: in float64, rounded to float32 at each place.
func (m *pieces) bestPath(w *work) {
	const unknownPenalty = 10
	text := w.text
	w.best = append(w.best[:0], bestPath{from: -1})
	for range text {
		w.best = append(w.best, bestPath{from: -1})
	}
	unknown := float64(m.min - unknownPenalty)
	for at := 0; at < len(text); {
		here := float64(w.best[at].score)
		char := min(charLen(text[at]), len(text)-at)
		single := false
		reach := func(end int, id int32, score float64) {
			t := &w.best[end]
			if c := score + here; t.from == -1 || c > float64(t.score) {
				*t = bestPath{id, float32(c), at}
			}
		}
		for end := at + 1; end <= min(len(text), at+m.longest); end++ {
			s := text[at:end]
			if id, ok := m.normal[string(s)]; ok && m.list[id].kind != unusedPiece {
				score := float64(m.list[id].score)
				if m.list[id].kind == userPiece {
					score = float64(float32(end-at)*m.max) - 0.1
				}
				reach(end, id, score)
				single = single || end-at == char
			}
			if !m.starts[string(s)] {
				break
			}
		}
		if !single {
			reach(at+char, m.unknown, unknown)
		}
		at += char
	}
	// From the end, then turned around.
	w.links = w.links[:0]
	for end := len(text); end > 0; end = w.best[end].from {
		w.links = append(w.links, symbol{from: w.best[end].from, to: end, id: w.best[end].id})
	}
	before := false
	for i := len(w.links) - 1; i >= 0; i-- {
		l := &w.links[i]
		before = m.put(w, l.from, l.to, l.id, before)
	}
}

// mergePieces finds the pieces of a BPE model.
func (m *pieces) mergePieces(w *work) {
	text := w.text
	w.links = w.links[:0]
	for at := 0; at < len(text); {
		n := m.defined(text[at:])
		s := symbol{from: at, prev: len(w.links) - 1, next: len(w.links) + 1, frozen: n > 0}
		if n == 0 {
			n = min(charLen(text[at]), len(text)-at)
		}
		at += n
		if s.to = at; at == len(text) {
			s.next = -1
		}
		w.links = append(w.links, s)
	}
	unused := map[string]int{} // where the first part of an unused piece ends
	w.merge(func(l, r *symbol) (int32, float64, bool) {
		id, ok := m.normal[string(text[l.from:r.to])]
		if ok && m.list[id].kind == unusedPiece {
			unused[string(text[l.from:r.to])] = l.to - l.from
		}
		if !ok {
			return 0, 0, false
		}
		return id, -float64(m.list[id].score), true
	}, func(*pair, *symbol, *symbol) bool { return true })
	before := false
	var resegment func(from, to int)
	resegment = func(from, to int) {
		s := text[from:to]
		id, ok := m.other[string(s)]
		if !ok {
			if id, ok = m.normal[string(s)]; !ok {
				id = m.unknown
			}
		}
		if cut, again := unused[string(s)]; again && m.list[id].kind == unusedPiece {
			resegment(from, from+cut)
			resegment(from+cut, to)
			return
		}
		before = m.put(w, from, to, id, before)
	}
	for i := 0; len(w.links) > 0 && i >= 0; i = w.links[i].next {
		resegment(w.links[i].from, w.links[i].to)
	}
}
