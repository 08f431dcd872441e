//go:build cgo || wasip1

package main

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/tensor"
)

// The structs and numbers of infer_prep.h. cgo.go compares the layouts with
// C's. In WebAssembly a pointer has 8 bytes, too, of which a host in C writes
// all.

// address is a pointer of the host to bytes of any number. If there are none,
// it may be any number, such as those of empty slices in Rust, at which Go's
// runtime would end the process if it found them in a pointer.
type address uintptr

func (a address) pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a)) }

type ipError struct {
	structSize uint32
	status     int32
	message    [1016]byte
}

type ipOptions struct {
	structSize  uint32
	jobs        int32
	maxPixels   int64
	maxBytes    int64
	maxScans    int32
	ignored     int32
	format      *byte
	backend     *byte
	decoder     *byte
	ignoredKeys **byte
}

type ipColumn struct {
	structSize uint32
	dtype      int32
	layout     int32
	rank       int32
	shape      [tensor.MaxRank]int64
	bytes      int64
	fill       float64
	batch      int32
	side       int32
	name       [72]byte
}

type ipInput struct {
	structSize uint32
	dtype      int32
	layout     int32
	rank       int32
	shape      [tensor.MaxRank]int64
	strides    [tensor.MaxRank]int64
	bytes      uint64
	data       address
}

type ipTensor struct {
	structSize uint32
	dtype      int32
	layout     int32
	rank       int32
	shape      [tensor.MaxRank]int64
	bytes      uint64
	capacity   uint64
	data       address
}

type ipImageInfo struct {
	structSize  uint32
	depth       int32
	orientation int32
	hasAlpha    int32
	width       int64
	height      int64
	frames      int64
	format      [16]byte
	mode        [16]byte
}

type ipTokenFiles struct {
	structSize   uint32
	pairs        int32
	processor    *byte
	preprocessor *byte
	tokenizer    *byte
	call         *byte
	tokens       **byte
}

type ipImageTokens struct {
	structSize uint32
	unused     int32
	tokens     int64
	textTokens int64
	textAt     uint64
	textBytes  uint64
}

type ipClip struct {
	structSize uint32
	unused     int32
	count      int64
	fps        float64
	duration   float64
	frames     *ipInput
}

// The kinds of error.
const (
	ipOK int32 = iota
	ipInternal
	ipFormat
	ipUnsupported
	ipLimit
	ipGraph
	ipUnknownOp
	ipParam
	ipInvalid // IP_INPUT
	ipCapacity
	ipForked
	ipHandle
	ipIO
)

// The two lists of a graph's columns.
const (
	ipInputs int32 = iota
	ipOutputs
)
