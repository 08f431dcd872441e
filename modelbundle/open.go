package modelbundle

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Bundle is an open bundle. It is immutable and safe for concurrent use, except
// for Close, after which it must not be used.
type Bundle struct {
	r      io.ReaderAt
	mem    []byte // all of the file, or nil if the file is not in memory
	size   int64
	close  func() error
	limits Limits

	header   header
	raw      []byte // the manifest
	manifest *manifest
	parts    []part // one for each section
	graph    *datagraph.Graph
	labels   []string
	meta     map[string]string

	signer    ed25519.PublicKey // nil if not signed
	signature []byte
}

// part is the state of a section.
type part struct {
	mu   sync.Mutex
	ok   bool // data is read and its digest checked
	data []byte
}

// Open opens a bundle in memory. Do not modify b afterwards: sections are views
// of it.
func Open(b []byte, l Limits) (*Bundle, error) {
	return open(bytes.NewReader(b), b, int64(len(b)), l)
}

// OpenReader opens a bundle of size bytes. It reads sections on first use and
// keeps them in memory.
func OpenReader(r io.ReaderAt, size int64, l Limits) (*Bundle, error) {
	return open(r, nil, size, l)
}

// OpenStore opens a bundle file of a store. It reads sections on first use and
// keeps them in memory. If the file changes in place while it is open, sections
// that were read keep their bytes, and others are errors: ErrDigest or
// io.ErrUnexpectedEOF. ctx bounds the use of the Bundle, too. The caller closes
// the Bundle. To share the memory of a large model between processes, open the
// mapped bytes of the file (store.MappedBytes) with [Open] instead.
func OpenStore(ctx context.Context, o store.Opener, name string, l Limits) (*Bundle, error) {
	f, err := o.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	b, err := OpenReader(f, f.Size(), l)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b.close = f.Close
	return b, nil
}

// Close releases the file. Slices that Section returned become invalid.
func (b *Bundle) Close() error {
	c := b.close
	if c == nil {
		return nil
	}
	b.close = nil
	for i := range b.parts {
		b.parts[i].ok, b.parts[i].data = false, nil
	}
	b.mem, b.r = nil, closed{}
	return c()
}

type closed struct{}

func (closed) ReadAt([]byte, int64) (int, error) { return 0, ErrClosed }

// open reads everything except the sections that may be large.
func open(r io.ReaderAt, mem []byte, size int64, l Limits) (*Bundle, error) {
	if l.Parsed == 0 {
		l.Parsed = DefaultLimits().Parsed
	}
	b := &Bundle{r: r, mem: mem, size: size, limits: l}
	if size < 0 || size > maxSize {
		return nil, fail("header", 0, ErrFormat, "a file of %d bytes", size)
	}
	head, err := b.read("header", 0, min(size, headerSize))
	if err != nil {
		return nil, err
	}
	if err := b.header.parse(head, size); err != nil {
		return nil, err
	}
	if err := b.readManifest(); err != nil {
		return nil, err
	}
	if err := b.checkLayout(); err != nil {
		return nil, err
	}
	if err := b.readSignature(); err != nil {
		return nil, err
	}
	if err := b.readGraph(); err != nil {
		return nil, err
	}
	if err := b.readTexts(); err != nil {
		return nil, err
	}
	return b, nil
}

// read returns n bytes of the file. The caller has checked n against the file's
// size.
func (b *Bundle) read(part string, off, n int64) ([]byte, error) {
	if int64(int(n)) != n {
		return nil, fail(part, off, ErrLimit, "%d bytes do not fit the address space", n)
	}
	if b.mem != nil {
		return b.mem[off : off+n : off+n], nil
	}
	buf := make([]byte, n)
	return buf, b.readAt(part, off, buf)
}

func (b *Bundle) readAt(part string, off int64, buf []byte) error {
	if len(buf) == 0 {
		return nil
	}
	if n, err := b.r.ReadAt(buf, off); n < len(buf) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return &Error{part, off, err}
	}
	return nil
}

func (b *Bundle) readManifest() error {
	if l := b.limits.Parsed; l > 0 && b.header.size > l {
		return fail(manifestName, headerSize, ErrLimit, "%d bytes, the limit is %d", b.header.size, l)
	}
	raw, err := b.read(manifestName, headerSize, b.header.size)
	if err != nil {
		return err
	}
	if sha256.Sum256(raw) != b.header.digest {
		return fail(manifestName, headerSize, ErrDigest, "SHA-256 of %d bytes", len(raw))
	}
	b.raw = raw
	if b.mem != nil {
		b.raw = slices.Clone(raw) // stays valid after Close
	}
	if b.manifest, err = parseManifest(b.raw); err != nil {
		return err
	}
	base := aligned(headerSize + b.header.size)
	for i := range b.manifest.sections {
		b.manifest.sections[i].Offset += base
	}
	b.parts = make([]part, len(b.manifest.sections))
	return nil
}

// checkLayout checks the manifest against the file: bytes between sections must
// be zero, and only the signature may follow the last section.
func (b *Bundle) checkLayout() error {
	body := b.body()
	if body > b.size {
		for _, s := range b.manifest.sections {
			if s.Offset+s.Size > b.size {
				return fail(quoted(s.Name), s.Offset, ErrFormat, "%d bytes extend beyond the file of %d bytes", s.Size, b.size)
			}
		}
	}
	if want := body + b.header.signature; want != b.size {
		return fail("file", min(want, b.size), ErrFormat, "%d bytes, want %d", b.size, want)
	}
	end := headerSize + b.header.size
	for i := range len(b.manifest.sections) + 1 {
		gap, err := b.read("padding", end, aligned(end)-end)
		if err != nil {
			return err
		}
		if !zero(gap) {
			return fail("padding", end, ErrFormat, "%x, want zeros", gap)
		}
		if i < len(b.manifest.sections) {
			end = b.manifest.sections[i].Offset + b.manifest.sections[i].Size
		}
	}
	return nil
}

// body returns the end of the sections, where a signature starts. A bundle has
// at least one section.
func (b *Bundle) body() int64 {
	s := b.manifest.sections[len(b.manifest.sections)-1]
	return aligned(s.Offset + s.Size)
}

func quoted(section string) string { return fmt.Sprintf("section %q", section) }

// parsed returns a section that Open parses, or nil if the bundle does not have
// it.
func (b *Bundle) parsed(name string) ([]byte, error) {
	i := b.index(name)
	if i < 0 {
		return nil, nil
	}
	s := b.manifest.sections[i]
	if l := b.limits.Parsed; l > 0 && s.Size > l {
		return nil, fail(quoted(name), s.Offset, ErrLimit, "%d bytes, the limit is %d", s.Size, l)
	}
	return b.Section(name)
}

func (b *Bundle) readGraph() error {
	raw, err := b.parsed(graphName)
	if err != nil {
		return err
	}
	g := &datagraph.Graph{}
	rest, err := g.UnmarshalMsg(raw)
	if err == nil {
		err = checkGraph(g)
	}
	switch {
	case err != nil:
	case len(rest) > 0:
		err = fmt.Errorf("%w: %d bytes after the graph", ErrFormat, len(rest))
	case g.Reference != b.manifest.reference:
		err = fmt.Errorf("%w: reference %q, the manifest has %q", ErrFormat, g.Reference, b.manifest.reference)
	}
	for i := range b.manifest.goldens {
		if err == nil {
			if err = fits(g, &b.manifest.goldens[i]); err != nil {
				err = fmt.Errorf("%w: %w", ErrFormat, err)
			}
		}
	}
	if err != nil {
		return &Error{quoted(graphName), -1, err}
	}
	b.graph = g
	return nil
}

func (b *Bundle) readTexts() error {
	raw, err := b.parsed(labelsName)
	if err != nil {
		return err
	}
	if raw != nil {
		if b.labels, err = parseLabels(raw); err != nil {
			return &Error{quoted(labelsName), -1, fmt.Errorf("%w: %w", ErrFormat, err)}
		}
	}
	if raw, err = b.parsed(metaName); err != nil {
		return err
	}
	if raw != nil {
		if b.meta, err = parseMeta(raw); err != nil {
			return &Error{quoted(metaName), -1, fmt.Errorf("%w: %w", ErrFormat, err)}
		}
	}
	return nil
}

// Graph returns the bundle's graph. The caller owns its lists; the ops are
// shared and must not be modified.
func (b *Bundle) Graph() *datagraph.Graph {
	g := *b.graph
	g.Inputs = slices.Clone(g.Inputs)
	g.Steps = slices.Clone(g.Steps)
	for i := range g.Steps {
		s := &g.Steps[i]
		s.In, s.Out, s.Moves = slices.Clone(s.In), slices.Clone(s.Out), slices.Clone(s.Moves)
	}
	g.Outputs, g.SideOutputs = slices.Clone(g.Outputs), slices.Clone(g.SideOutputs)
	g.Batch, g.Roles = slices.Clone(g.Batch), slices.Clone(g.Roles)
	return &g
}

// Reference says what the graph reproduces; see datagraph.Graph.Reference.
func (b *Bundle) Reference() string { return b.manifest.reference }

// Versions returns the versions of the libraries that training preprocessed
// with, by name.
func (b *Bundle) Versions() map[string]string {
	m := map[string]string{}
	for _, v := range b.manifest.versions {
		m[v[0]] = v[1]
	}
	return m
}

// Least returns the least exact class that a device may have: Exact, Within1 or
// Approximate.
func (b *Bundle) Least() string { return b.manifest.least }

// Labels returns the names of the model's classes, by index. It returns nil for
// a bundle without labels.
func (b *Bundle) Labels() []string { return slices.Clone(b.labels) }

// Meta returns the metadata.
func (b *Bundle) Meta() map[string]string { return maps.Clone(b.meta) }

// Digest returns the SHA-256 of the manifest, which contains the digests of all
// sections. Bundles with equal digests have equal content.
func (b *Bundle) Digest() [sha256.Size]byte { return b.header.digest }

// Sections describes the sections, sorted by name.
func (b *Bundle) Sections() []Section { return slices.Clone(b.manifest.sections) }

func (b *Bundle) index(name string) int {
	i, ok := slices.BinarySearchFunc(b.manifest.sections, name, func(s Section, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return -1
	}
	return i
}

// Section returns the content of a section. Do not modify it; it is valid until
// Close. The first call checks the digest and returns ErrDigest if the section
// is corrupt. The name "manifest" returns the bytes of the manifest. An unknown
// name is ErrNoSection.
func (b *Bundle) Section(name string) ([]byte, error) {
	if name == manifestName {
		return slices.Clone(b.raw), nil
	}
	i := b.index(name)
	if i < 0 {
		return nil, &Error{quoted(name), -1, ErrNoSection}
	}
	s, p := b.manifest.sections[i], &b.parts[i]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ok {
		return p.data, nil
	}
	data, err := b.read(quoted(name), s.Offset, s.Size)
	if err != nil {
		return nil, err
	}
	if sha256.Sum256(data) != s.SHA256 {
		return nil, damaged(s)
	}
	p.data, p.ok = data, true
	return data, nil
}

func damaged(s Section) error {
	return fail(quoted(s.Name), s.Offset, ErrDigest, "SHA-256 of %d bytes", s.Size)
}

// Models returns the names of the models, sorted.
func (b *Bundle) Models() []string {
	var l []string
	for _, s := range b.manifest.sections {
		if n, ok := strings.CutPrefix(s.Name, modelPrefix); ok {
			l = append(l, n)
		}
	}
	return l
}

// Model returns a model by name. An empty name selects the only model. Data is
// valid as described at Section.
func (b *Bundle) Model(name string) (Model, error) {
	if name == "" {
		switch l := b.Models(); len(l) {
		case 0:
			return Model{}, &Error{"model", -1, fmt.Errorf("%w: the bundle has no model", ErrNoSection)}
		case 1:
			name = l[0]
		default:
			return Model{}, &Error{"model", -1, fmt.Errorf("%w: no name given, the bundle has %s", ErrNoSection, strings.Join(l, ", "))}
		}
	}
	data, err := b.Section(modelPrefix + name)
	if err != nil {
		return Model{}, err
	}
	return Model{name, b.manifest.sections[b.index(modelPrefix+name)].Format, data}, nil
}

// Goldens returns the golden samples, sorted by name. Their inputs are valid as
// described at Section.
func (b *Bundle) Goldens() ([]Golden, error) {
	l := b.Expected()
	for i := range l {
		var err error
		if l[i].Input, err = b.Section(goldenPrefix + l[i].Name); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Expected returns the golden samples without their inputs, sorted by name. It
// reads no section.
//
//go:noinline
func (b *Bundle) Expected() []Golden {
	var l []Golden
	for _, g := range b.manifest.goldens {
		c := Golden{Name: g.Name}
		for _, e := range g.Outputs {
			e.Values = slices.Clone(e.Values)
			c.Outputs = append(c.Outputs, e)
		}
		l = append(l, c)
	}
	return l
}

// VerifyDigests checks the digest of every section and keeps none of them in
// memory. The error joins those of all corrupt sections.
func (b *Bundle) VerifyDigests(ctx context.Context) error {
	var errs []error
	for _, s := range b.manifest.sections {
		errs = append(errs, b.stream(ctx, s, func([]byte) error { return nil }))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// stream passes a section to f in chunks, which are valid until f returns, and
// checks the digest at the end.
func (b *Bundle) stream(ctx context.Context, s Section, f func([]byte) error) error {
	const chunk = 1 << 20
	h := sha256.New()
	var buf []byte
	if b.mem == nil {
		buf = make([]byte, min(chunk, s.Size))
	}
	for off, end := s.Offset, s.Offset+s.Size; off < end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(chunk, end-off)
		if b.mem != nil {
			buf = b.mem[off : off+n]
		} else if err := b.readAt(quoted(s.Name), off, buf[:n]); err != nil {
			return err
		}
		h.Write(buf[:n])
		if err := f(buf[:n]); err != nil {
			return err
		}
		off += n
	}
	if [sha256.Size]byte(h.Sum(nil)) != s.SHA256 {
		return damaged(s)
	}
	return nil
}

// Verify checks the digest of every section, runs the graph on the CPU on every
// golden sample, and compares the outputs. The error joins all differences:
// ErrDigest for a corrupt section, and a *MismatchError for each output.
func (b *Bundle) Verify(ctx context.Context) error {
	errs := []error{b.VerifyDigests(ctx)}
	plan, err := datagraph.Compile(b.Graph(), datagraph.CompileOptions{Limits: b.limits.Run})
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	run := plan.NewRunner()
	for _, g := range b.manifest.goldens {
		if err := ctx.Err(); err != nil {
			errs = append(errs, err)
			break
		}
		input, err := b.Section(goldenPrefix + g.Name)
		if errors.Is(err, ErrDigest) {
			continue // VerifyDigests has reported it
		}
		var out []*tensor.Tensor
		if err == nil {
			out, err = run.Run(tensor.FromBytes(input))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("modelbundle: golden sample %q: %w: %w", g.Name, ErrGolden, err))
			continue
		}
		errs = append(errs, g.Compare(plan.Outputs(), out))
	}
	return errors.Join(errs...)
}
