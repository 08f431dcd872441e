package distributed

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/pack"
)

// Entries and records travel between workers of one pipeline, which run the
// same program, so their encoding has no version. Equal values have equal
// bytes. Paths are bytes, not always UTF-8.

var errCoder = errors.New("distributed: a message between workers is damaged")

func encodeEntry(e pack.Entry) ([]byte, error) { return e.MarshalBinary() }

func decodeEntry(b []byte) (e pack.Entry, err error) {
	if err := e.UnmarshalBinary(b); err != nil {
		return e, fmt.Errorf("%w: %w", errCoder, err)
	}
	return e, nil
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
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) end(what string) error {
	if d.bad || len(d.b) > 0 {
		return fmt.Errorf("%w: not %s", errCoder, what)
	}
	return nil
}
