package main

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// The parts of the format that the tool reads (WebAssembly 1.0, 5.5).
const (
	header      = "\x00asm\x01\x00\x00\x00"
	dataSection = 11
	opI32Const  = 0x41
	opEnd       = 0x0b
)

// maxMemory bounds the memory that a file may fill, in bytes.
const maxMemory = 1 << 28

// memory is the linear memory, as the data section fills it.
type memory struct {
	b          []byte
	start, end int // of the data section in the file
}

// reader reads the numbers of a file and keeps the first error.
type reader struct {
	b   []byte
	i   int
	err error
}

// uleb reads an unsigned number of at most 31 bits.
func (r *reader) uleb() int {
	v, n := binary.Uvarint(r.b[min(r.i, len(r.b)):])
	if n <= 0 || v >= 1<<31 {
		r.err = errors.New("invalid number")
		return 0
	}
	r.i += n
	return int(v)
}

// sleb reads a signed number of at most 32 bits.
func (r *reader) sleb() (v int) {
	for shift := 0; shift < 35 && r.i < len(r.b); shift += 7 {
		c := int(r.b[r.i])
		r.i++
		v |= c & 127 << shift
		if c < 128 {
			if c&64 != 0 {
				v -= 1 << (shift + 7)
			}
			return v
		}
	}
	r.err = errors.New("invalid number")
	return 0
}

// load reads the data section of a file.
func load(b []byte) (*memory, error) {
	if !bytes.HasPrefix(b, []byte(header)) {
		return nil, errors.New("not a WebAssembly file of version 1")
	}
	m := &memory{}
	r := &reader{b: b, i: len(header)}
	for r.i < len(b) && r.err == nil {
		start, id := r.i, b[r.i]
		r.i++
		n := r.uleb()
		if r.err == nil && n > len(b)-r.i {
			return nil, errors.New("a section is longer than the file")
		}
		next := r.i + n
		if id == dataSection {
			m.start, m.end = start, next
			if err := m.segments(&reader{b: b[:next], i: r.i}); err != nil {
				return nil, err
			}
		}
		r.i = next
	}
	if r.err == nil && m.b == nil {
		r.err = errors.New("no data section")
	}
	return m, r.err
}

// segments reads the segments. Go's linker writes active segments of memory 0
// at constant addresses.
func (m *memory) segments(r *reader) error {
	for range r.uleb() {
		index, op, addr, end, n := r.uleb(), r.uleb(), r.sleb(), r.uleb(), r.uleb()
		switch {
		case r.err != nil:
			return r.err
		case index != 0 || op != opI32Const || end != opEnd:
			return errors.New("a data segment without a constant address")
		case n > len(r.b)-r.i:
			return errors.New("a data segment is longer than its section")
		case addr < 0 || addr+n > maxMemory:
			return errors.New("a data segment's address is too large")
		}
		if addr+n > len(m.b) {
			m.b = append(m.b, make([]byte, addr+n-len(m.b))...)
		}
		copy(m.b[addr:], r.b[r.i:][:n])
		r.i += n
	}
	return r.err
}

// maxSegments is the largest number of data segments that engines load.
const maxSegments = 100_000

// file returns the file b with m as its data.
func (m *memory) file(b []byte) []byte {
	// A run of zeros that is shorter than this costs less than a new segment,
	// as in cmd/link.
	least := 8
	segments, count := m.encode(least)
	for count > maxSegments {
		least *= 2
		segments, count = m.encode(least)
	}
	section := append(binary.AppendUvarint(nil, uint64(count)), segments...)
	out := append(bytes.Clone(b[:m.start]), dataSection)
	out = binary.AppendUvarint(out, uint64(len(section)))
	out = append(out, section...)
	return append(out, b[m.end:]...)
}

// encode returns the segments, without runs of at least least zeros.
func (m *memory) encode(least int) (segments []byte, count int) {
	for i := 0; i < len(m.b); {
		if m.b[i] == 0 {
			i++
			continue
		}
		end := i + 1 // of the segment
		for j := end; j < len(m.b) && j-end < least; j++ {
			if m.b[j] != 0 {
				end = j + 1
			}
		}
		segments = append(segments, 0, opI32Const)
		segments = appendSLEB(segments, i)
		segments = append(segments, opEnd)
		segments = binary.AppendUvarint(segments, uint64(end-i))
		segments = append(segments, m.b[i:end]...)
		count++
		i = end
	}
	return segments, count
}

// appendSLEB appends a number that is not negative as a signed one.
func appendSLEB(b []byte, v int) []byte {
	for ; v >= 64; v >>= 7 {
		b = append(b, byte(v&127|128))
	}
	return append(b, byte(v))
}
