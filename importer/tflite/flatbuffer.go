package tflite

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/importer"
)

// This file holds a small reader of FlatBuffers. It checks every offset against
// the buffer before it follows it. It only follows offsets to requested fields,
// at a fixed depth, so a file cannot make it loop.

// buffer is a FlatBuffer that records the first error.
type buffer struct {
	b    []byte
	what string // the buffer's name in error messages
	err  error
}

// fail records an error if it is the first.
//
//go:noinline
func (b *buffer) fail(format string, args ...any) {
	if b.err == nil {
		b.err = &importer.Error{Kind: importer.ErrFormat, Path: b.what, Text: fmt.Sprintf(format, args...)}
	}
}

// at returns n bytes from pos on, or zeros if the buffer is too short.
func (b *buffer) at(pos, n int64) []byte {
	if pos < 0 || pos > int64(len(b.b))-n {
		b.fail("%d bytes at offset %d, beyond the end of %d", n, pos, len(b.b))
		return make([]byte, n)
	}
	return b.b[pos : pos+n]
}

func (b *buffer) u32(pos int64) int64 { return int64(binary.LittleEndian.Uint32(b.at(pos, 4))) }

// table is a table in a buffer. With pos 0, all its fields are absent.
type table struct {
	b   *buffer
	pos int64
}

// root returns the buffer's first table.
func (b *buffer) root() table { return table{b, b.u32(0)} }

// field returns the position of field id, whose value has n bytes, or 0 if it
// is absent.
func (t table) field(id, n int64) int64 {
	if t.pos == 0 || t.b.err != nil {
		return 0
	}
	vtable := t.pos - int64(int32(t.b.u32(t.pos)))
	head := t.b.at(vtable, 4)
	size := int64(binary.LittleEndian.Uint16(head))
	if size < 4 || size%2 != 0 {
		t.b.fail("a table's description of %d bytes at offset %d", size, vtable)
		return 0
	}
	entry := 4 + 2*id
	if entry+2 > size {
		return 0
	}
	at := int64(binary.LittleEndian.Uint16(t.b.at(vtable+entry, 2)))
	if at == 0 {
		return 0
	}
	if whole := int64(binary.LittleEndian.Uint16(head[2:])); at < 4 || at+n > whole {
		t.b.fail("a field at %d of a table of %d bytes at offset %d", at, whole, t.pos)
		return 0
	}
	return t.pos + at
}

// uint returns a number of n bytes, 1 or 4, or 0 if the field is absent.
func (t table) uint(id, n int64) int64 {
	pos := t.field(id, n)
	switch {
	case pos == 0:
		return 0
	case n == 1:
		return int64(t.b.at(pos, 1)[0])
	}
	return t.b.u32(pos)
}

// follow returns the position that the field's offset points to, or 0 if the
// field is absent.
func (t table) follow(id int64) int64 {
	pos := t.field(id, 4)
	if pos == 0 {
		return 0
	}
	to := pos + t.b.u32(pos)
	if to == pos {
		t.b.fail("an offset of 0 at offset %d", pos)
		return 0
	}
	t.b.at(to, 4)
	return to
}

// table returns the table in a field.
func (t table) table(id int64) table { return table{t.b, t.follow(id)} }

// vector returns the position and length of a vector with elements of size
// bytes.
func (t table) vector(id, size int64) (pos, n int64) {
	at := t.follow(id)
	if at == 0 || t.b.err != nil {
		return 0, 0
	}
	n = t.b.u32(at)
	if n > (int64(len(t.b.b))-at-4)/size {
		t.b.fail("a vector of %d elements at offset %d, beyond the end of %d", n, at, len(t.b.b))
		return 0, 0
	}
	return at + 4, n
}

// bytes returns a vector of bytes, or a string.
func (t table) bytes(id int64) []byte {
	pos, n := t.vector(id, 1)
	if n == 0 {
		return nil
	}
	return t.b.at(pos, n)
}

// ints returns a vector of int32 with at most most elements.
func (t table) ints(id, most int64) []int64 {
	pos, n := t.vector(id, 4)
	if n > most {
		t.b.fail("a list of %d numbers, want at most %d", n, most)
		return nil
	}
	l := make([]int64, n)
	for i := range l {
		l[i] = int64(int32(t.b.u32(pos + 4*int64(i))))
	}
	return l
}

// floats returns a vector of float32 with at most most elements.
func (t table) floats(id, most int64) []float64 {
	pos, n := t.vector(id, 4)
	if n > most {
		t.b.fail("a list of %d numbers, want at most %d", n, most)
		return nil
	}
	l := make([]float64, n)
	for i := range l {
		l[i] = float64(math.Float32frombits(uint32(t.b.u32(pos + 4*int64(i)))))
	}
	return l
}

// tables is a vector of tables.
type tables struct {
	b      *buffer
	pos, n int64
}

func (t table) tables(id int64) tables {
	pos, n := t.vector(id, 4)
	return tables{t.b, pos, n}
}

// get returns table i. Out of range, all fields of the result are absent.
func (l tables) get(i int64) table {
	if i < 0 || i >= l.n {
		return table{l.b, 0}
	}
	at := l.pos + 4*i
	to := at + l.b.u32(at)
	if to == at {
		l.b.fail("an offset of 0 at offset %d", at)
	}
	return table{l.b, to}
}
