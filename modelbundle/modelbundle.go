// Package modelbundle packs a model and its preprocessing into one file: the
// preprocessing graph, the model, labels, metadata, and golden samples. A
// golden sample is an encoded image with the digests of the tensors that
// training computed from it. With golden samples, any device can prove that it
// computes the same tensors.
//
// [Create] writes a bundle; equal content has equal bytes. [Open],
// [OpenReader] and [OpenStore] open one. They extract nothing:
// sections are read on first use. docs/format/bundle.md describes the file
// format.
//
// # Trust
//
// A digest, a checksum or a check for zero covers every byte of a bundle, so
// damage is always detected. Opening a bundle checks the header, the manifest,
// the graph, the labels, the metadata and the signature. Every other section is
// checked on first use. A digest does not say who made a bundle. A signature
// does, once [Bundle.VerifySignature] or [Bundle.VerifyDetached] has verified
// it with a trusted key.
//
// The size of the file and [Limits] bound the memory that opening a bundle
// allocates. No input makes it panic.
package modelbundle

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// Version is the version of the format that this build reads and writes.
const Version = 1

// The kinds of error, for errors.Is. An unknown op is transforms.ErrUnknownOp,
// and an invalid graph is datagraph.ErrGraph.
var (
	// ErrFormat reports a file that is not a bundle, is truncated, or has extra
	// bytes.
	ErrFormat = errors.New("malformed bundle")
	// ErrVersion reports a version of the format that this build does not
	// support.
	ErrVersion = errors.New("unsupported format version")
	// ErrDigest reports bytes that changed after they were written.
	ErrDigest = errors.New("corrupt: the digest differs")
	// ErrLimit reports a size above the Limits.
	ErrLimit = errors.New("limit exceeded")
	// ErrContent reports content that a bundle cannot hold.
	ErrContent = errors.New("invalid content")
	// ErrNoSection reports a section that the bundle does not have.
	ErrNoSection = errors.New("no such section")
	// ErrGolden reports a golden sample whose outputs differ from the expected
	// ones.
	ErrGolden = errors.New("golden sample differs")
	// ErrUnsigned reports a bundle without a signature.
	ErrUnsigned = errors.New("not signed")
	// ErrSignature reports a signature that is not of this bundle by this key.
	ErrSignature = errors.New("invalid signature")
	// ErrClosed reports the use of a closed bundle.
	ErrClosed = errors.New("bundle is closed")
)

// Error is an error at a place in a bundle.
type Error struct {
	Part   string // "header", "manifest", "signature", or `section "NAME"`
	Offset int64  // in the file; -1 if unknown
	Err    error
}

func (e *Error) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("modelbundle: %s: %v", e.Part, e.Err)
	}
	return fmt.Sprintf("modelbundle: %s at offset %d: %v", e.Part, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail returns an *Error of a kind.
func fail(part string, off int64, kind error, format string, args ...any) error {
	return &Error{part, off, fmt.Errorf("%w: %w", kind, fmt.Errorf(format, args...))}
}

// Limits bounds the cost of opening and verifying a bundle. The zero value
// means the default limits. A negative limit is unlimited.
type Limits struct {
	// Parsed is the largest size in bytes of the manifest, and of each section
	// that Open parses: the graph, the labels and the metadata. Default: 64
	// MiB.
	Parsed int64
	// Run bounds the runs of the golden samples. Default: codec.DefaultLimits.
	Run codec.Limits
}

// DefaultLimits returns the default limits.
func DefaultLimits() Limits { return Limits{Parsed: 64 << 20, Run: codec.DefaultLimits()} }

// The classes of exactness that a bundle may require of a device. Package
// device has the same names.
const (
	Exact       = "exact"       // equal bits
	Within1     = "within1"     // uint8 elements differ by at most 1
	Approximate = "approximate" // no bound
)

var classes = []string{Exact, Within1, Approximate}

// Golden is a sample with the tensors that the graph must compute from it.
type Golden struct {
	Name  string
	Input []byte // the encoded image
	// Outputs has one or more of the graph's outputs and side outputs, in their
	// order.
	Outputs []Expected
}

// Expected identifies the expected value of one output. Values has some
// elements for error messages.
type Expected struct {
	Name string
	Desc tensor.Desc
	// SHA256 is the digest of the elements in row-major order, little-endian.
	SHA256 [sha256.Size]byte
	Values []Element
}

// Element is one element of a tensor.
type Element struct {
	At    int64   // the index in row-major order
	Value float64 // exact, except for integers above 2^53
}

// Section describes a named part of a bundle.
type Section struct {
	// Name is "graph", "labels", "meta", "model/NAME", "golden/NAME", or
	// another name.
	Name   string
	Format string // the format of a model: "onnx", "tflite"; empty for other sections
	Offset int64  // in the file, a multiple of 64
	Size   int64  // in bytes
	SHA256 [sha256.Size]byte
}

// Model is a model in a bundle.
type Model struct {
	Name   string // for example "model.onnx"
	Format string // "onnx", "tflite", or another word of at most 32 lower-case letters and digits
	Data   []byte
}
