package modelbundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tinylib/msgp/msgp"

	"github.com/infer-prep/infer-prep/internal/msgpack"
	"github.com/infer-prep/infer-prep/tensor"
)

// Constants of the file format; see docs/format/bundle.md.
const (
	magic      = "IPbundle"
	headerSize = 64
	align      = 64
	signedSize = 128
)

// The limits of a manifest. The largest known bundles have hundreds of golden
// samples.
const (
	maxSections = 10_000
	maxVersions = 256
	maxOutputs  = 100 // the limit of a graph
	maxValues   = 64
	maxText     = 1024
	maxName     = 255 // the limit of most file systems
	maxLabels   = 1 << 20
)

// The names of sections that the format defines.
const (
	graphName    = "graph"
	labelsName   = "labels"
	metaName     = "meta"
	manifestName = "manifest" // not a section, but Section accepts it
	modelPrefix  = "model/"
	goldenPrefix = "golden/"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// aligned rounds n up to a multiple of 64.
func aligned(n int64) int64 { return (n + align - 1) &^ (align - 1) }

// header is the first 64 bytes.
type header struct {
	signature int64 // the bytes of the signature at the end: 0 or signedSize
	size      int64 // the bytes of the manifest
	digest    [sha256.Size]byte
}

func (h *header) append(b []byte) []byte {
	start := len(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, Version)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, headerSize)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.signature))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.size))
	b = append(b, h.digest[:]...)
	binary.LittleEndian.PutUint32(b[start+12:], headerSum(b[start:]))
	return b
}

// headerSum returns the checksum of the header without its checksum field.
func headerSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[16:headerSize])
}

// parse reads the header of a file of size bytes.
func (h *header) parse(b []byte, size int64) error {
	const part = "header"
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return fail(part, 0, ErrFormat, "the file does not start with %q", magic)
	}
	if len(b) < headerSize {
		return fail(part, size, ErrFormat, "the file ends within the header")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != Version {
		return fail(part, 8, ErrVersion, "version %d, this build reads %d", v, Version)
	}
	if binary.LittleEndian.Uint32(b[12:]) != headerSum(b) {
		return fail(part, 0, ErrDigest, "checksum of %d bytes", headerSize)
	}
	if n := binary.LittleEndian.Uint32(b[16:]); n != headerSize {
		return fail(part, 16, ErrFormat, "the manifest starts at %d, want %d", n, headerSize)
	}
	n := binary.LittleEndian.Uint32(b[20:])
	if n != 0 && n != signedSize {
		return fail(part, 20, ErrFormat, "a signature of %d bytes, want 0 or %d", n, signedSize)
	}
	m := binary.LittleEndian.Uint64(b[24:])
	if m > uint64(size-headerSize) {
		return fail(part, 24, ErrFormat, "a manifest of %d bytes in a file of %d", m, size)
	}
	h.signature, h.size = int64(n), int64(m)
	copy(h.digest[:], b[32:])
	return nil
}

// manifest describes the sections of the file:
//
//	[least, reference, [[library, version]…],
//	 [[name, format, offset, size, sha256]…],
//	 [[name,
//	   [[output, dtype, layout, [size…], sha256, [[at, value]…]]…]]…]]
//
// Offsets count from the first section, so that they do not depend on the
// length of the manifest.
type manifest struct {
	least, reference string
	versions         [][2]string // sorted by library
	sections         []Section   // sorted by name
	goldens          []Golden    // sorted by name, without inputs
}

func (m *manifest) append(b []byte) []byte {
	b = msgp.AppendArrayHeader(b, 5)
	b = msgp.AppendString(b, m.least)
	b = msgp.AppendString(b, m.reference)
	b = msgp.AppendArrayHeader(b, uint32(len(m.versions)))
	for _, v := range m.versions {
		b = msgp.AppendArrayHeader(b, 2)
		b = msgp.AppendString(b, v[0])
		b = msgp.AppendString(b, v[1])
	}
	b = msgp.AppendArrayHeader(b, uint32(len(m.sections)))
	for _, s := range m.sections {
		b = msgp.AppendArrayHeader(b, 5)
		b = msgp.AppendString(b, s.Name)
		b = msgp.AppendString(b, s.Format)
		b = msgp.AppendInt64(b, s.Offset)
		b = msgp.AppendInt64(b, s.Size)
		b = msgp.AppendBytes(b, s.SHA256[:])
	}
	b = msgp.AppendArrayHeader(b, uint32(len(m.goldens)))
	for _, g := range m.goldens {
		b = msgp.AppendArrayHeader(b, 2)
		b = msgp.AppendString(b, g.Name)
		b = msgp.AppendArrayHeader(b, uint32(len(g.Outputs)))
		for i := range g.Outputs {
			b = g.Outputs[i].append(b)
		}
	}
	return b
}

func (e *Expected) append(b []byte) []byte {
	b = msgp.AppendArrayHeader(b, 6)
	b = msgp.AppendString(b, e.Name)
	b = msgp.AppendUint8(b, uint8(e.Desc.DType))
	b = msgp.AppendUint8(b, uint8(e.Desc.Layout))
	b = msgp.AppendArrayHeader(b, uint32(e.Desc.Shape.Rank()))
	for i := range e.Desc.Shape.Rank() {
		b = msgp.AppendInt(b, e.Desc.Shape.At(i))
	}
	b = msgp.AppendBytes(b, e.SHA256[:])
	b = msgp.AppendArrayHeader(b, uint32(len(e.Values)))
	for _, v := range e.Values {
		b = msgp.AppendArrayHeader(b, 2)
		b = msgp.AppendInt64(b, v.At)
		b = msgp.AppendFloat64(b, v.Value)
	}
	return b
}

// parseManifest reads a manifest and validates it.
func parseManifest(b []byte) (*manifest, error) {
	r := reader{msgpack.Reader{B: b}}
	m := &manifest{}
	r.Tuple(5)
	m.least, m.reference = r.Text(maxText), r.Text(maxText)
	for range r.Count(maxVersions) {
		r.Tuple(2)
		m.versions = append(m.versions, [2]string{r.Text(maxText), r.Text(maxText)})
	}
	for range r.Count(maxSections) {
		r.Tuple(5)
		s := Section{Name: r.Text(maxName), Format: r.Text(maxName), Offset: r.int64(), Size: r.int64(), SHA256: r.digest()}
		if r.Err != nil {
			break
		}
		m.sections = append(m.sections, s)
	}
	for range r.Count(maxSections) {
		r.Tuple(2)
		g := Golden{Name: r.Text(maxName)}
		for range r.Count(maxOutputs) {
			e := r.expected()
			if r.Err != nil {
				break
			}
			g.Outputs = append(g.Outputs, e)
		}
		if r.Err != nil {
			break
		}
		m.goldens = append(m.goldens, g)
	}
	at := headerSize + int64(len(b)-len(r.B))
	if r.Err != nil {
		return nil, &Error{manifestName, at, fmt.Errorf("%w: %w", ErrFormat, r.Err)}
	}
	if len(r.B) > 0 {
		return nil, fail(manifestName, at, ErrFormat, "%d bytes after its end", len(r.B))
	}
	if err := m.validate(); err != nil {
		return nil, &Error{manifestName, -1, fmt.Errorf("%w: %w", ErrFormat, err)}
	}
	return m, nil
}

// validate checks the rules of every manifest, written or read.
func (m *manifest) validate() error {
	if !slices.Contains(classes, m.least) {
		return fmt.Errorf("class %q, want one of %s", m.least, strings.Join(classes, ", "))
	}
	if len(m.sections) > maxSections {
		return fmt.Errorf("%d sections, want at most %d", len(m.sections), maxSections)
	}
	if len(m.versions) > maxVersions {
		return fmt.Errorf("%d versions of libraries, want at most %d", len(m.versions), maxVersions)
	}
	for i, v := range m.versions {
		if v[0] == "" || len(v[0]) > maxText || len(v[1]) > maxText || !utf8.ValidString(v[0]+v[1]) {
			return fmt.Errorf("library %q of version %q, want at most %d bytes of UTF-8 and a name", v[0], v[1], maxText)
		}
		if i > 0 && m.versions[i-1][0] >= v[0] {
			return fmt.Errorf("library %q after %q, want each once and in order", v[0], m.versions[i-1][0])
		}
	}
	if len(m.reference) > maxText || !utf8.ValidString(m.reference) {
		return fmt.Errorf("a reference of %d bytes, want at most %d of UTF-8", len(m.reference), maxText)
	}
	end := int64(0)
	graph, goldens := false, 0
	for i, s := range m.sections {
		if err := checkName(s.Name); err != nil {
			return err
		}
		if i > 0 && m.sections[i-1].Name >= s.Name {
			return fmt.Errorf("section %q after %q, want each once and in order", s.Name, m.sections[i-1].Name)
		}
		if err := checkFormat(s.Format); err != nil {
			return fmt.Errorf("section %q: %w", s.Name, err)
		}
		if isModel := strings.HasPrefix(s.Name, modelPrefix); isModel != (s.Format != "") {
			return fmt.Errorf("section %q has format %q; models have one, other sections must not", s.Name, s.Format)
		}
		if s.Size < 0 || s.Size > maxSize || s.Offset != aligned(end) {
			what := "overlaps the section before it"
			if s.Size < 0 || s.Size > maxSize {
				what = "has an impossible size"
			} else if s.Offset > aligned(end) {
				what = "leaves a gap"
			} else if s.Offset >= end {
				what = "is not aligned"
			}
			return fmt.Errorf("section %q of %d bytes at %d %s, want it at %d", s.Name, s.Size, s.Offset, what, aligned(end))
		}
		if end = s.Offset + s.Size; end > maxSize {
			return fmt.Errorf("section %q ends at %d, want at most %d", s.Name, end, int64(maxSize))
		}
		graph = graph || s.Name == graphName
		if strings.HasPrefix(s.Name, goldenPrefix) {
			if goldens >= len(m.goldens) || m.goldens[goldens].Name != s.Name[len(goldenPrefix):] {
				return fmt.Errorf("section %q belongs to no golden sample", s.Name)
			}
			goldens++
		}
	}
	if !graph {
		return fmt.Errorf("no section %q", graphName)
	}
	if goldens < len(m.goldens) {
		return fmt.Errorf("golden sample %q has no section", m.goldens[goldens].Name)
	}
	for _, g := range m.goldens {
		for i := range g.Outputs {
			if err := g.Outputs[i].validate(); err != nil {
				return fmt.Errorf("golden sample %q: output %q: %w", g.Name, g.Outputs[i].Name, err)
			}
		}
	}
	return nil
}

// maxSize is the largest size of a bundle. It is far below the limit of int64,
// so that sums cannot overflow.
const maxSize = 1 << 60

func (e *Expected) validate() error {
	if err := e.Desc.Validate(); err != nil {
		return err
	}
	if !e.Desc.Shape.Known() {
		return fmt.Errorf("%v has an unknown size", e.Desc)
	}
	if len(e.Values) > maxValues {
		return fmt.Errorf("%d elements, want at most %d", len(e.Values), maxValues)
	}
	n := e.Desc.Len()
	if e.Desc.DType == tensor.Bytes {
		n = 0
	}
	for i, v := range e.Values {
		if v.At < 0 || v.At >= n || i > 0 && v.At <= e.Values[i-1].At {
			return fmt.Errorf("element %d of %d, want each once and in order", v.At, n)
		}
	}
	return nil
}

// checkName refuses section names that cannot be file names, because tools may
// extract sections to files.
func checkName(s string) error {
	ok := len(s) > 0 && len(s) <= maxName && utf8.ValidString(s) && s != manifestName && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == '\\'
	})
	for _, part := range strings.Split(s, "/") {
		ok = ok && part != "" && part != "." && part != ".."
	}
	if !ok {
		return fmt.Errorf("section name %q, want 1 to %d bytes of UTF-8 without control characters, backslashes and empty, \".\" or \"..\" parts, other than %q", s, maxName, manifestName)
	}
	return nil
}

// reserved reports whether the format gives a name a meaning.
func reserved(s string) bool {
	return s == graphName || s == labelsName || s == metaName || strings.HasPrefix(s, modelPrefix) || strings.HasPrefix(s, goldenPrefix)
}

func checkFormat(s string) error {
	for _, c := range []byte(s) {
		if len(s) > 32 || (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return fmt.Errorf("format %q, want at most 32 lower-case letters and digits", s)
		}
	}
	return nil
}

// reader reads the values of a manifest.
type reader struct{ msgpack.Reader }

func (r *reader) int64() int64 { return msgpack.Read(&r.Reader, msgp.ReadInt64Bytes) }

func (r *reader) digest() (d [sha256.Size]byte) {
	b := msgpack.Read(&r.Reader, msgp.ReadBytesZC)
	if len(b) != len(d) {
		r.Fail("a digest of %d bytes, want %d", len(b), len(d))
	}
	copy(d[:], b)
	return d
}

func (r *reader) expected() (e Expected) {
	r.Tuple(6)
	e.Name = r.Text(maxName)
	e.Desc.DType, e.Desc.Layout = tensor.DType(r.Uint8()), tensor.Layout(r.Uint8())
	for range r.Count(tensor.MaxRank) {
		e.Desc.Shape = e.Desc.Shape.Append(r.Int())
	}
	e.SHA256 = r.digest()
	for range r.Count(maxValues) {
		r.Tuple(2)
		e.Values = append(e.Values, Element{r.int64(), msgpack.Read(&r.Reader, msgp.ReadFloat64Bytes)})
	}
	return e
}

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
