package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// checkThrift checks that the lists of a struct in Thrift's compact protocol
// fit its bytes: the library allocates what they claim. It returns the size of
// the struct, or io.ErrUnexpectedEOF if b is only its beginning.
func checkThrift(b []byte) (int, error) {
	r := thriftReader{b: b}
	err := r.value(thriftStruct, 0)
	return len(b) - len(r.b), err
}

// The types of values.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI64    = 6 // those of 16 and 32 bits are before it
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

type thriftReader struct{ b []byte }

func (r *thriftReader) skip(n uint64) error {
	if n > uint64(len(r.b)) {
		return io.ErrUnexpectedEOF
	}
	r.b = r.b[n:]
	return nil
}

func (r *thriftReader) next() (byte, error) {
	if len(r.b) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c, nil
}

func (r *thriftReader) varint() (uint64, error) {
	v, n := binary.Uvarint(r.b)
	if n < 0 {
		return 0, errors.New("a number beyond 64 bits")
	}
	if n == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return v, r.skip(uint64(n))
}

// value skips a value.
func (r *thriftReader) value(kind byte, depth int) error {
	if depth > 64 {
		return errors.New("values nested more than 64 deep")
	}
	switch {
	case kind == thriftByte:
		return r.skip(1)
	case kind > thriftByte && kind <= thriftI64:
		_, err := r.varint()
		return err
	case kind == thriftDouble:
		return r.skip(8)
	case kind == thriftBinary:
		n, err := r.varint()
		if err != nil {
			return err
		}
		return r.skip(n)
	case kind == thriftList || kind == thriftSet:
		head, err := r.next()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = r.varint(); err != nil {
				return err
			}
		}
		return r.elements(n, depth, head&15)
	case kind == thriftMap:
		n, err := r.varint()
		if err != nil || n == 0 {
			return err
		}
		head, err := r.next()
		if err != nil {
			return err
		}
		return r.elements(n, depth, head>>4, head&15)
	case kind == thriftStruct:
		for {
			head, err := r.next()
			if err != nil || head == 0 {
				return err
			}
			if head>>4 == 0 { // the field's number follows
				if _, err := r.varint(); err != nil {
					return err
				}
			}
			if k := head & 15; k != thriftTrue && k != thriftFalse { // which have no more bytes
				if err := r.value(k, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return fmt.Errorf("a value of type %d", kind)
}

// elements skips the elements of a list, or the pairs of a map. Each has a byte
// or more.
func (r *thriftReader) elements(n uint64, depth int, kinds ...byte) error {
	if n > uint64(len(r.b)) {
		return io.ErrUnexpectedEOF
	}
	for range n {
		for _, k := range kinds {
			if k == thriftTrue || k == thriftFalse {
				k = thriftByte
			}
			if err := r.value(k, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
