package mobile

import (
	"fmt"

	"github.com/infer-prep/infer-prep/mobile/internal/direct"
)

// Buffer is the memory of a direct java.nio.ByteBuffer. The Kotlin layer makes
// it, and keeps the memory alive while the Buffer is in use.
type Buffer struct{ data []byte }

// NewBuffer returns the Buffer of a number that the bindings' C code returned
// for a direct ByteBuffer. Each number is valid for one call.
func NewBuffer(number int64) (b *Buffer, err error) {
	defer guard(&err)
	data := direct.Take(number)
	if data == nil {
		return nil, fmt.Errorf("mobile: buffer %d: %w: want the number of a direct ByteBuffer that is not empty", number, errInput)
	}
	return &Buffer{data}, nil
}

// Size returns the number of bytes.
func (b *Buffer) Size() (n int64) {
	defer guardValue()
	return int64(len(b.data))
}

// memory returns size bytes from offset on.
func (b *Buffer) memory(offset, size int) ([]byte, error) {
	if b == nil || b.data == nil {
		return nil, fmt.Errorf("mobile: buffer %w: want one of a direct ByteBuffer", errZero)
	}
	if offset < 0 || size < 0 || offset > len(b.data) || size > len(b.data)-offset {
		return nil, fmt.Errorf("mobile: buffer of %d bytes: %w: %d bytes at %d", len(b.data), errInput, size, offset)
	}
	return b.data[offset:][:size:size], nil
}

func (b *Buffer) whole() ([]byte, error) {
	if b == nil {
		return b.memory(0, 0)
	}
	return b.memory(0, len(b.data))
}
