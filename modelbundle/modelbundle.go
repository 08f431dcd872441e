// Package modelbundle is the file that ships the preprocessing with the model:
// the inference data graph, the model, labels, metadata, and golden samples by
// which any device can prove that it gives the tensors of training.
//
// [Create] writes a bundle; equal content gives equal bytes. [Open], [OpenReader]
// and [OpenFile] read one where it stands: nothing is extracted, and sections are
// looked at when they are asked for. docs/format/bundle.md describes the file.
//
// # Trust
//
// Every byte of a bundle is under a digest, a checksum or must be zero, so damage
// is refused: that of the header, the manifest, the graph, the labels, the metadata
// and a signature when the bundle is opened, that of any other section, by its name,
// when it is first used. A digest does not say who made a bundle: a signature does,
// once [Bundle.VerifySignature] or [Bundle.VerifyDetached] has held it against a key
// that is known from elsewhere.
//
// What Open allocates is bounded by the bytes that the file has, and by
// [Limits]. No input makes it panic.
package modelbundle

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// Version is the version of the format that this build writes and reads.
const Version = 1

// The kinds of error, for errors.Is. An op that this build does not know is
// transforms.ErrUnknownOp, and a graph that cannot be is datagraph.ErrGraph.
var (
	// ErrFormat: the bytes are not of the format, or the file was cut or goes on.
	ErrFormat = errors.New("malformed bundle")
	// ErrVersion: the bundle is of a version that this build does not read.
	ErrVersion = errors.New("unknown version of the format")
	// ErrDigest: the bytes are not those that were written.
	ErrDigest = errors.New("damaged: the digest differs")
	// ErrLimit: more than the Limits allow.
	ErrLimit = errors.New("over the limit")
	// ErrContent: what was to be put into a bundle cannot be in one.
	ErrContent = errors.New("invalid content")
	// ErrNoSection: the bundle has no section of that name.
	ErrNoSection = errors.New("no such section")
	// ErrGolden: a golden sample does not give the tensors that it should.
	ErrGolden = errors.New("golden sample differs")
	// ErrUnsigned: there is no signature.
	ErrUnsigned = errors.New("not signed")
	// ErrSignature: the signature is not one of this bundle by this key.
	ErrSignature = errors.New("wrong signature")
	// ErrClosed: the bundle was closed.
	ErrClosed = errors.New("bundle is closed")
)

// Error is an error in a bundle, with its place.
type Error struct {
	Part   string // "header", "manifest", "signature", or the name of a section with quotes
	Offset int64  // in the file, -1 if there is no telling
	Err    error
}

func (e *Error) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("modelbundle: %s: %v", e.Part, e.Err)
	}
	return fmt.Sprintf("modelbundle: %s at offset %d: %v", e.Part, e.Offset, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail is an *Error of a kind.
func fail(part string, off int64, kind error, format string, args ...any) error {
	return &Error{part, off, fmt.Errorf("%w: %w", kind, fmt.Errorf(format, args...))}
}

// Limits bound what opening and verifying a bundle may cost. A limit of 0 is none.
type Limits struct {
	// Parsed is the bytes of the manifest, and of each section that Open reads
	// itself: the graph, labels and metadata. Default: 64 MiB
	Parsed int64
	// Run are those of the golden samples' runs.
	Run codec.Limits
}

// DefaultLimits are the limits where none are given.
func DefaultLimits() Limits { return Limits{Parsed: 64 << 20, Run: codec.DefaultLimits()} }

// The classes of exactness that a bundle may ask of a device, as package device names them.
const (
	Exact       = "exact"       // equal bits
	Within1     = "within1"     // uint8 elements differ by 1 at most
	Approximate = "approximate" // no bound
)

var classes = []string{Exact, Within1, Approximate}

// Golden is a sample with the tensors that the graph must make of it.
type Golden struct {
	Name  string
	Input []byte // encoded, as the graph's input takes it
	// Outputs are one or more of the graph's outputs and side outputs, in their order.
	Outputs []Expected
}

// Expected is what is known of one output: its digest, and some elements for people.
type Expected struct {
	Name string
	Desc tensor.Desc
	// SHA256 is that of the elements in row-major order, little-endian.
	SHA256 [sha256.Size]byte
	Values []Element
}

// Element is one element of a tensor.
type Element struct {
	At    int64   // its index in row-major order
	Value float64 // exactly, but for integers beyond 2^53
}

// Section is a named part of a bundle.
type Section struct {
	// Name is "graph", "labels", "meta", "model/NAME", "golden/NAME", or any other.
	Name   string
	Format string // of a model: "onnx", "tflite", …; else ""
	Offset int64  // in the file, a multiple of 64
	Size   int64  // in bytes
	SHA256 [sha256.Size]byte
}

// Model is a model in a bundle.
type Model struct {
	Name   string // such as "model.onnx"
	Format string // "onnx", "tflite", or another word of lower-case letters and digits
	Data   []byte
}
