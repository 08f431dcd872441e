// Package hdf5 reads arrays of integers and booleans from HDF5 files, row by
// row. It reads datasets of the root group as h5py writes them by default, and
// with gzip and shuffle.
//
// It follows the HDF5 File Format Specification, version 3.0. It reads
// superblocks 0 and 1, object headers 1, groups of symbol tables, contiguous
// datasets, and chunks that a version 1 B-tree lists. Other forms are
// ErrUnsupported: files of libver "latest", chunks that were never written, and
// other filters, for example.
package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Kinds of errors.
var (
	ErrInvalid     = errors.New("invalid HDF5 file")
	ErrUnsupported = errors.New("unsupported HDF5 file")
)

// Error describes what is wrong at a place of a file. Errors of the reader that
// Open was given are none: they are returned as they are.
type Error struct {
	Kind   error // ErrInvalid or ErrUnsupported
	Offset int64 // in bytes from the start of the file
	Text   string
}

// Error returns the kind, the place and the text.
func (e *Error) Error() string { return fmt.Sprintf("%v: offset %d: %s", e.Kind, e.Offset, e.Text) }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Limits of what is read. The files of data sets need far less.
const (
	maxHeader  = 1 << 20 // bytes of an object header
	maxBlocks  = 256     // parts of an object header
	maxHeap    = 1 << 20 // bytes of the names in a group
	maxLevels  = 32      // of a B-tree
	maxMembers = 1 << 16 // datasets and groups in the root group
)

// none is the address of what does not exist.
const none = math.MaxUint64

// File is an open file. Its methods are safe for concurrent use.
type File struct {
	r    io.ReaderAt
	size int64
	root int64 // address of the root group's object header
}

// Open opens a file, which r reads and which has size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	return f, f.superblock()
}

//go:noinline
func invalid(at int64, format string, args ...any) error {
	return &Error{ErrInvalid, at, fmt.Sprintf(format, args...)}
}

//go:noinline
func unsupported(at int64, format string, args ...any) error {
	return &Error{ErrUnsupported, at, fmt.Sprintf(format, args...)}
}

// read returns n bytes, from an offset on.
func (f *File) read(what string, at, n int64) ([]byte, error) {
	if err := f.within(what, at, n); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, f.fill(b, at)
}

// within checks that n bytes from an offset on are in the file.
func (f *File) within(what string, at, n int64) error {
	if at < 0 || n < 0 || at > f.size || n > f.size-at {
		return invalid(at, "%s of %d bytes in a file of %d", what, n, f.size)
	}
	return nil
}

// fill reads len(b) bytes from an offset on.
func (f *File) fill(b []byte, at int64) error {
	n, err := f.r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return invalid(at, "the file ends after %d bytes, want %d", n, len(b))
	}
	return fmt.Errorf("offset %d: %w", at, err)
}

// address checks an address that stands at a place.
func (f *File) address(what string, n uint64, at int64) (int64, error) {
	if n >= uint64(f.size) {
		return 0, invalid(at, "%s at address %#x in a file of %d bytes", what, n, f.size)
	}
	return int64(n), nil
}

var (
	u16 = binary.LittleEndian.Uint16
	u32 = binary.LittleEndian.Uint32
	u64 = binary.LittleEndian.Uint64
)

func (f *File) superblock() error {
	const signature = "\x89HDF\r\n\x1a\n"
	b, err := f.read("a superblock", 0, 96)
	if err != nil {
		return err
	}
	if string(b[:8]) != signature {
		return invalid(0, "%q, want %q; a file with a user block is not supported", b[:8], signature)
	}
	at := int64(24) // of the base address
	switch b[8] {
	case 0:
	case 1:
		at += 4
	default:
		return unsupported(8, "superblock of version %d, want 0 or 1", b[8])
	}
	if b[13] != 8 || b[14] != 8 {
		return unsupported(13, "addresses of %d bytes and lengths of %d, want 8", b[13], b[14])
	}
	if b, err = f.read("a superblock", at, 48); err != nil {
		return err
	}
	if base := u64(b); base != 0 {
		return unsupported(at, "base address %d, want 0", base)
	}
	if end := u64(b[16:]); end > uint64(f.size) {
		return invalid(at+16, "a file of %d bytes, want %d: it was truncated", f.size, end)
	}
	f.root, err = f.address("the root group", u64(b[40:]), at+40)
	return err
}

// Types of messages in object headers.
const (
	msgDataspace    = 0x01
	msgDatatype     = 0x03
	msgExternal     = 0x07
	msgLayout       = 0x08
	msgFilters      = 0x0b
	msgContinuation = 0x10
	msgGroup        = 0x11
)

// message is the data of a message and its place.
type message struct {
	at int64
	b  []byte
}

// header reads an object header: its messages by their types. A second message
// of a type that this package reads is an error.
func (f *File) header(what string, at int64) (map[uint16]message, error) {
	b, err := f.read("an object header", at, 16)
	if err != nil {
		return nil, err
	}
	if string(b[:4]) == "OHDR" {
		return nil, unsupported(at, "%s: object header of version %d, want 1", what, b[4])
	}
	if b[0] != 1 {
		return nil, unsupported(at, "%s: object header of version %d, want 1", what, b[0])
	}
	left := int(u16(b[2:])) // messages
	found := map[uint16]message{}
	blocks := []message{{at: at + 16}}
	sizes := []int64{int64(u32(b[8:]))}
	total := int64(0)
	for k := 0; k < len(blocks); k++ {
		if total += sizes[k]; total > maxHeader || k >= maxBlocks {
			return nil, unsupported(at, "%s: object header of more than %d bytes or %d parts", what, maxHeader, maxBlocks)
		}
		if blocks[k].b, err = f.read("a part of an object header", blocks[k].at, sizes[k]); err != nil {
			return nil, err
		}
		for at, b := blocks[k].at, blocks[k].b; left > 0 && len(b) >= 8; left-- {
			kind, n := u16(b), int(u16(b[2:]))
			if n > len(b)-8 {
				return nil, invalid(at, "%s: a message of %d bytes, want at most %d", what, n, len(b)-8)
			}
			m := message{at + 8, b[8 : 8+n]}
			shared := b[4]&2 != 0
			at, b = at+8+int64(n), b[8+n:]
			switch kind {
			case msgContinuation:
				if n < 16 {
					return nil, invalid(m.at, "%s: a continuation of %d bytes, want 16", what, n)
				}
				next, err := f.address("a part of an object header", u64(m.b), m.at)
				if err != nil {
					return nil, err
				}
				size := u64(m.b[8:])
				if size > maxHeader {
					return nil, invalid(m.at+8, "%s: a part of an object header of %d bytes, want at most %d", what, size, maxHeader)
				}
				blocks, sizes = append(blocks, message{at: next}), append(sizes, int64(size))
			case msgDataspace, msgDatatype, msgExternal, msgLayout, msgFilters, msgGroup:
				if shared {
					return nil, unsupported(m.at, "%s: a shared message of type %#x", what, kind)
				}
				if _, ok := found[kind]; ok {
					return nil, invalid(m.at, "%s: a second message of type %#x", what, kind)
				}
				found[kind] = m
			}
		}
	}
	return found, nil
}

// find returns the address of the object header of a member of the root group.
func (f *File) find(name string) (int64, error) {
	messages, err := f.header("the root group", f.root)
	if err != nil {
		return 0, err
	}
	m, ok := messages[msgGroup]
	if !ok {
		return 0, unsupported(f.root, "the root group has no symbol table")
	}
	if len(m.b) < 16 {
		return 0, invalid(m.at, "a symbol table of %d bytes, want 16", len(m.b))
	}
	tree, err := f.address("a B-tree", u64(m.b), m.at)
	if err != nil {
		return 0, err
	}
	heapAt, err := f.address("a heap", u64(m.b[8:]), m.at+8)
	if err != nil {
		return 0, err
	}
	g := &group{File: f, name: name}
	if g.names, err = f.heap(heapAt); err != nil {
		return 0, err
	}
	walk := &tree1{File: f, kind: 0, key: 8, leaf: g.node}
	if err := walk.node(tree, -1); err != nil {
		return 0, err
	}
	if g.found == 0 {
		return 0, invalid(f.root, "no dataset %q in the root group, which has %.400q", name, g.others)
	}
	return g.found, nil
}

// heap reads the names of a group.
func (f *File) heap(at int64) ([]byte, error) {
	b, err := f.read("a heap", at, 32)
	if err != nil {
		return nil, err
	}
	if string(b[:4]) != "HEAP" || b[4] != 0 {
		return nil, invalid(at, "%q and version %d, want HEAP and 0", b[:4], b[4])
	}
	n := u64(b[8:])
	if n > maxHeap {
		return nil, unsupported(at+8, "%d bytes of names, want at most %d", n, maxHeap)
	}
	data, err := f.address("names", u64(b[24:]), at+24)
	if err != nil {
		return nil, err
	}
	return f.read("names", data, int64(n))
}

// group looks for a name among the members of a group.
type group struct {
	*File
	name  string
	names []byte

	found   int64
	others  []string
	members int
}

// node reads a symbol table node.
func (g *group) node(_ []byte, at, _ int64) error {
	head, err := g.read("a symbol table node", at, 8)
	if err != nil {
		return err
	}
	if string(head[:4]) != "SNOD" || head[4] != 1 {
		return invalid(at, "%q and version %d, want SNOD and 1", head[:4], head[4])
	}
	const size = 40
	n := int64(u16(head[6:]))
	if g.members += int(n); g.members > maxMembers {
		return unsupported(at, "more than %d members of a group", maxMembers)
	}
	b, err := g.read("a symbol table node", at+8, n*size)
	if err != nil {
		return err
	}
	for i := range n {
		e, at := b[i*size:], at+8+i*size
		from := u64(e)
		if from >= uint64(len(g.names)) {
			return invalid(at, "a name at byte %d of %d", from, len(g.names))
		}
		name := g.names[from:]
		for k, c := range name {
			if c == 0 {
				name = name[:k]
				break
			}
		}
		if string(name) != g.name {
			if len(g.others) < 16 {
				g.others = append(g.others, string(name))
			}
			continue
		}
		if kind := u32(e[16:]); kind == 2 {
			return unsupported(at, "%q is a symbolic link", name)
		}
		if g.found, err = g.address("an object header", u64(e[8:]), at+8); err != nil {
			return err
		}
	}
	return nil
}

// tree1 walks a B-tree of version 1 from the least key to the greatest.
type tree1 struct {
	*File
	kind byte // 0 for members of groups, 1 for chunks
	key  int64
	// leaf is called for each child of the last level, with its key, its
	// address and the place of both.
	leaf func(key []byte, child, at int64) error
	seen int64 // bytes of nodes
}

// node reads the node at an address. level is -1 for any.
func (t *tree1) node(at int64, level int) error {
	// A node of the library's default size has 64 children, for which one read
	// suffices.
	const head, usual = 24, 64
	b, err := t.read("a node of a B-tree", at, max(head, min(head+usual*(t.key+8), t.size-at)))
	if err != nil {
		return err
	}
	if string(b[:4]) != "TREE" || b[4] != t.kind {
		return invalid(at, "%q and type %d, want TREE and %d", b[:4], b[4], t.kind)
	}
	if level >= 0 && int(b[5]) != level || b[5] >= maxLevels {
		return invalid(at+5, "level %d of a B-tree, want %d below %d", b[5], level, maxLevels)
	}
	n := int64(u16(b[6:]))
	// No two nodes overlap. This bounds the time for a file whose nodes refer
	// to each other.
	if t.seen += head + n*(t.key+8); t.seen > t.size {
		return invalid(at, "a B-tree of more than the %d bytes of the file", t.size)
	}
	if n == 0 && level >= 0 {
		return invalid(at+6, "a node without children")
	}
	below := int(b[5]) - 1
	first := at + head
	if b = b[head:]; int64(len(b)) < n*(t.key+8) {
		if b, err = t.read("a node of a B-tree", first, n*(t.key+8)); err != nil {
			return err
		}
	}
	for i := range n {
		e, at := b[i*(t.key+8):], first+i*(t.key+8)
		child, err := t.address("a child of a B-tree", u64(e[t.key:]), at+t.key)
		switch {
		case err != nil:
		case below < 0:
			err = t.leaf(e[:t.key], child, at)
		default:
			err = t.node(child, below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
