package tensor

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// The safetensors format (github.com/huggingface/safetensors, 0.8.0) is the
// header's length as a little-endian uint64, the header as JSON padded with
// spaces to a multiple of 8, and the data of all tensors without gaps.
const (
	stMaxHeader = 100_000_000 // the reference's limit
	stMeta      = "__metadata__"
)

// stTypes names the supported types, in the order of the reference's
// enumeration. Data is in the reverse order.
var stTypes = [...]struct {
	name string
	t    DType
}{
	{"BOOL", Bool}, {"U8", Uint8}, {"I8", Int8}, {"I16", Int16}, {"U16", Uint16}, {"F16", Float16},
	{"BF16", BFloat16}, {"I32", Int32}, {"F32", Float32}, {"F64", Float64}, {"I64", Int64},
}

// stIndex returns t's index in stTypes, -1 for Bytes.
func stIndex(t DType) int {
	for i, e := range stTypes {
		if e.t == t {
			return i
		}
	}
	return -1
}

// WriteSafetensors writes tensors, and metadata unless it is empty. The file
// equals that of the safetensors library 0.8.0 byte for byte: it sorts tensors
// by type, larger types first, then by name. Metadata is sorted by key; the
// library has no fixed order. Bytes, duplicate names, the name "__metadata__",
// and strings that are not UTF-8 are ErrUnsupported; WriteSafetensors then
// writes nothing.
func WriteSafetensors(w io.Writer, ts []Named, metadata map[string]string) error {
	order := slices.Clone(ts)
	seen := make(map[string]bool, len(ts))
	for _, n := range order {
		if err := n.T.sound(); err != nil {
			return err
		}
		switch {
		case stIndex(n.T.DType) < 0:
			return refuse("safetensors", n.Name, n.T, "has no type in safetensors")
		case n.Name == stMeta || seen[n.Name] || !utf8.ValidString(n.Name):
			return refuse("safetensors", n.Name, n.T, "has an invalid name, want a unique one in UTF-8, other than "+stMeta)
		}
		seen[n.Name] = true
	}
	sort.Slice(order, func(i, j int) bool {
		if a, b := stIndex(order[i].T.DType), stIndex(order[j].T.DType); a != b {
			return a > b
		}
		return order[i].Name < order[j].Name
	})

	head := append(make([]byte, 8, 1024), '{')
	if len(metadata) > 0 {
		keys := make([]string, 0, len(metadata))
		for k, v := range metadata {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return &Error{Format: "safetensors", Kind: ErrUnsupported, Name: stMeta, Offset: -1,
					Detail: errfmt.Sprintf("metadata %q: %q, want UTF-8", k, v)}
			}
			keys = append(keys, k)
		}
		slices.Sort(keys)
		head = append(head, `"`+stMeta+`":{`...)
		for i, k := range keys {
			if i > 0 {
				head = append(head, ',')
			}
			head = append(stString(head, k), ':')
			head = stString(head, metadata[k])
		}
		head = append(head, '}')
	}
	off := int64(0)
	for _, n := range order {
		if len(head) > 9 {
			head = append(head, ',')
		}
		head = stString(head, n.Name)
		head = append(head, `:{"dtype":"`+stTypes[stIndex(n.T.DType)].name+`","shape":[`...)
		for i := range n.T.Shape.Rank() {
			if i > 0 {
				head = append(head, ',')
			}
			head = strconv.AppendInt(head, int64(n.T.Shape.At(i)), 10)
		}
		end := off + n.T.Size()
		if end < off {
			return refuse("safetensors", n.Name, n.T, "must end within the range of an int64")
		}
		head = errfmt.Appendf(head, `],"data_offsets":[%d,%d]}`, off, end)
		off = end
	}
	head = append(head, '}')
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	if len(head)-8 > stMaxHeader {
		return &Error{Format: "safetensors", Kind: ErrLimit, Offset: -1,
			Detail: errfmt.Sprintf("header of %d bytes, want at most %d", len(head)-8, stMaxHeader)}
	}
	binary.LittleEndian.PutUint64(head, uint64(len(head)-8))
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, n := range order {
		if err := writeElems(w, n.T); err != nil {
			return err
		}
	}
	return nil
}

// stString appends s as a JSON string. Like serde_json, it escapes only the
// characters that JSON requires it to.
func stString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20:
			b = append(b, c)
		default:
			if k := strings.IndexByte("\b\f\n\r\t", c); k >= 0 {
				b = append(b, '\\', "bfnrt"[k])
			} else {
				b = errfmt.Appendf(b, `\u%04x`, c)
			}
		}
	}
	return append(b, '"')
}

// stEntry describes one tensor of a header.
type stEntry struct {
	name       string
	desc       Desc
	begin, end int64
}

// ReadSafetensors reads a file to the end of r. It returns the tensors in the
// order of their data, and the metadata, nil if there is none. It checks all
// rules of the format: valid JSON, unique names, offsets that fit the shapes
// and neither overlap nor leave gaps, and no missing or extra data. The header
// may have at most 100,000,000 bytes, and at most limit plus 1 MiB. Types that
// this package lacks are ErrUnsupported.
func ReadSafetensors(r io.Reader, limit int64) ([]Named, map[string]string, error) {
	d := decoder{r: r, format: "safetensors", have: remaining(r), limit: limit}
	field, err := d.bytes(8, "the header's length")
	if err != nil {
		return nil, nil, err
	}
	n := binary.LittleEndian.Uint64(field)
	if most := min(stMaxHeader, min(stMaxHeader, max(limit, 0))+startBytes); n > uint64(most) {
		return nil, nil, d.fail(ErrLimit, 0, "header of %d bytes, want at most %d", n, most)
	}
	head, err := d.bytes(int64(n), "the header")
	if err != nil {
		return nil, nil, err
	}
	entries, metadata, err := d.stHeader(head)
	if err != nil {
		return nil, nil, err
	}
	sort.SliceStable(entries, func(i, j int) bool {
		a, b := entries[i], entries[j]
		return a.begin < b.begin || a.begin == b.begin && a.end < b.end
	})
	at := int64(0)
	for _, e := range entries {
		d.name = e.name
		if e.begin != at || e.end < e.begin {
			return nil, nil, d.fail(ErrFormat, -1, "data_offsets [%d, %d]: must start at %d", e.begin, e.end, at)
		}
		if e.end-e.begin != e.desc.Size() {
			return nil, nil, d.fail(ErrFormat, -1, "data_offsets [%d, %d]: %v has %d bytes", e.begin, e.end, e.desc, e.desc.Size())
		}
		at = e.end
	}
	ts := make([]Named, 0, len(entries))
	for _, e := range entries {
		d.name = e.name
		t, err := d.elems(e.desc, true)
		if err != nil {
			return nil, nil, err
		}
		ts = append(ts, Named{e.name, t})
	}
	d.name = ""
	if err := d.end(); err != nil {
		return nil, nil, err
	}
	return ts, metadata, nil
}

func (d *decoder) stHeader(head []byte) ([]stEntry, map[string]string, error) {
	if len(head) == 0 || head[0] != '{' {
		return nil, nil, d.fail(ErrFormat, 8, "the header must start with {")
	}
	if !utf8.Valid(head) {
		return nil, nil, d.fail(ErrFormat, 8, "header: want UTF-8")
	}
	p := stParser{d: d, j: json.NewDecoder(bytes.NewReader(head))}
	p.j.UseNumber()
	if err := checkSurrogates(head); err >= 0 {
		return nil, nil, d.fail(ErrFormat, 8+int64(err), "unpaired surrogate")
	}
	// The parser below relies on valid JSON.
	if !json.Valid(head) {
		var v json.RawMessage
		err := json.Unmarshal(head, &v)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, nil, d.fail(ErrFormat, 8+syntax.Offset, "header: %v", err)
		}
		return nil, nil, d.fail(ErrFormat, 8, "header: want JSON")
	}
	var entries []stEntry
	var metadata map[string]string
	seen := map[string]bool{}
	err := p.object(func(key string) error {
		if seen[key] {
			return p.fail("the header has %q twice", key)
		}
		seen[key] = true
		if key == stMeta {
			metadata = map[string]string{}
			return p.object(func(k string) error {
				if _, twice := metadata[k]; twice {
					return p.fail("the metadata has %q twice", k)
				}
				v, err := p.str()
				metadata[k] = v
				return err
			})
		}
		d.name = key
		e, err := p.entry()
		e.name = key
		entries = append(entries, e)
		d.name = ""
		return err
	})
	return entries, metadata, err
}

// stParser reads the header token by token. Decoding into a map would miss
// duplicate keys.
type stParser struct {
	d *decoder
	j *json.Decoder
}

func (p *stParser) fail(format string, args ...any) error {
	return p.d.fail(ErrFormat, 8+p.j.InputOffset(), format, args...)
}

func (p *stParser) next() (json.Token, error) {
	t, err := p.j.Token()
	if err != nil {
		return nil, p.fail("header: %v", err)
	}
	return t, nil
}

func (p *stParser) delim(want json.Delim) error {
	t, err := p.next()
	if err == nil && t != want {
		err = p.fail("the header has %v, want %v", t, want)
	}
	return err
}

// object calls member for every key. member must read the value.
func (p *stParser) object(member func(key string) error) error {
	if err := p.delim('{'); err != nil {
		return err
	}
	for p.j.More() {
		key, err := p.str()
		if err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
	}
	return p.delim('}')
}

func (p *stParser) str() (string, error) {
	t, err := p.next()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", p.fail("the header has %v, want a string", t)
	}
	return s, nil
}

// numbers reads an array of sizes. It returns at most most of them, and the
// number of all.
func (p *stParser) numbers(most int) (v []int64, n int, err error) {
	if err := p.delim('['); err != nil {
		return nil, 0, err
	}
	for p.j.More() {
		t, err := p.next()
		if err != nil {
			return nil, 0, err
		}
		num, ok := t.(json.Number)
		if !ok {
			return nil, 0, p.fail("the header has %v, want a number", t)
		}
		i, err := strconv.ParseUint(string(num), 10, 63)
		if err != nil {
			return nil, 0, p.fail("the header has %v, want a size", num)
		}
		if n++; n <= most {
			v = append(v, int64(i))
		}
	}
	return v, n, p.delim(']')
}

// skip skips a value.
func (p *stParser) skip() error {
	for depth := 0; ; {
		t, err := p.next()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

func (p *stParser) entry() (e stEntry, err error) {
	var dims, offsets []int64
	var dtype string
	var rank, two int
	seen := map[string]bool{}
	err = p.object(func(key string) (err error) {
		if seen[key] {
			return p.fail("%q occurs twice", key)
		}
		switch key {
		case "dtype":
			dtype, err = p.str()
		case "shape":
			dims, rank, err = p.numbers(MaxRank)
		case "data_offsets":
			offsets, two, err = p.numbers(2)
		default: // the reference ignores it too
			return p.skip()
		}
		seen[key] = true
		return err
	})
	if err != nil {
		return e, err
	}
	if len(seen) != 3 || two != 2 {
		return e, p.fail("want dtype, shape and two data_offsets")
	}
	e.begin, e.end = offsets[0], offsets[1]
	at := 8 + p.j.InputOffset()
	for _, t := range stTypes {
		if t.name == dtype {
			e.desc.DType = t.t
		}
	}
	if e.desc.DType == Invalid {
		return e, p.d.fail(ErrUnsupported, at, "dtype %q", dtype)
	}
	if rank > MaxRank {
		return e, p.d.fail(ErrUnsupported, at, "%d axes, want at most %d", rank, MaxRank)
	}
	e.desc, err = p.d.desc(e.desc.DType, dims, at)
	return e, err
}

// checkSurrogates returns the offset of the first \u escape of an unpaired
// surrogate, -1 if there is none. encoding/json would silently replace it.
func checkSurrogates(s []byte) int {
	hex := func(i int) uint64 {
		if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
			return 0
		}
		v, _ := strconv.ParseUint(string(s[i+2:i+6]), 16, 16)
		return v
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		switch v := hex(i); {
		case v >= 0xdc00 && v < 0xe000:
			return i
		case v >= 0xd800 && v < 0xdc00:
			if low := hex(i + 6); low < 0xdc00 || low >= 0xe000 {
				return i
			}
			i += 11
		default:
			i++ // skip the escaped character
		}
	}
	return -1
}
