package distributed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/pack"
)

// Entries and records travel between workers of one pipeline, which run the
// same program, so their encoding has no version. Equal values have equal
// bytes. Paths are bytes, not always UTF-8.

var errCoder = errors.New("distributed: a message between workers is damaged")

func encodeEntry(e pack.Entry) []byte {
	b := binary.AppendUvarint(nil, uint64(e.Shard))
	b = binary.AppendUvarint(b, uint64(e.Position))
	b = binary.AppendUvarint(b, e.Number)
	b = binary.AppendUvarint(b, uint64(len(e.Labels)))
	for _, l := range e.Labels {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(l))
	}
	b = binary.AppendUvarint(b, uint64(len(e.Files)))
	for _, f := range e.Files {
		b = appendText(b, f.Path)
		b = binary.AppendVarint(b, f.Size)
		b = binary.AppendVarint(b, f.Modified)
	}
	return b
}

func decodeEntry(b []byte) (pack.Entry, error) {
	d := &decoder{b: b}
	e := pack.Entry{Shard: int(d.uvarint()), Position: int64(d.uvarint()), Number: d.uvarint()}
	if n := d.length(4); n > 0 {
		e.Labels = make([]float32, n)
		for i := range e.Labels {
			e.Labels[i] = math.Float32frombits(binary.LittleEndian.Uint32(d.take(4)))
		}
	}
	const leastFile = 3 // bytes
	if n := d.length(leastFile); n > 0 {
		e.Files = make([]pack.EntryFile, n)
		for i := range e.Files {
			e.Files[i] = pack.EntryFile{Path: d.text(), Size: d.varint(), Modified: d.varint()}
		}
	}
	return e, d.end("an entry")
}

func encodeRecord(r pack.Record) []byte {
	b := make([]byte, 0, len(r.Data)+len(r.Path)+len(r.Bad)+len(r.Why)+6*binary.MaxVarintLen64)
	b = binary.AppendUvarint(b, uint64(r.Shard))
	b = binary.AppendUvarint(b, uint64(r.Position))
	b = appendText(b, r.Path)
	b = appendText(b, r.Bad)
	b = appendText(b, r.Why)
	return append(b, r.Data...)
}

func decodeRecord(b []byte) (pack.Record, error) {
	d := &decoder{b: b}
	r := pack.Record{Shard: int(d.uvarint()), Position: int64(d.uvarint()), Path: d.text(), Bad: d.text(), Why: d.text()}
	if !d.bad && len(d.b) > 0 {
		r.Data, d.b = d.b, nil // Beam makes a slice for each element
	}
	return r, d.end("a record")
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder takes values from the front of b. After the first that is not there
// it is bad, and all are zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	return v * d.skip(n)
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	return v * int64(d.skip(n))
}

// skip skips a number of n bytes and returns 1, or 0 if there is none.
func (d *decoder) skip(n int) uint64 {
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return 1
}

// length returns a number of parts of at least size bytes each, for which there
// are enough bytes.
func (d *decoder) length(size int) int {
	n := d.uvarint()
	if n > uint64(len(d.b)/size) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) take(n int) []byte {
	if n > len(d.b) {
		d.bad, d.b = true, nil
		return make([]byte, n)
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) text() string {
	return string(d.take(d.length(1)))
}

func (d *decoder) end(what string) error {
	if d.bad || len(d.b) > 0 {
		return fmt.Errorf("%w: not %s", errCoder, what)
	}
	return nil
}
