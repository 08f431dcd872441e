// Package mobile is the flat form of this module for Java, Kotlin and other
// languages: gobind makes bindings of it. Apps use the Kotlin layer above those
// bindings, in the folder kotlin, and Go programs use the other packages.
//
// A [Preprocessor] holds the preprocessing of a model. It turns an encoded
// image, a bitmap or a camera frame into the tensors that the model takes:
//
//	p, err := mobile.Open(bundle)
//	result, err := p.RunJPEG(jpeg)
//	tensor := result.Data(0)
//
// # Conventions
//
// The signatures have only types that gobind binds: int, float64, string, bool,
// []byte, structs and interfaces. Lists are a method that returns their length
// and one that returns an element; an index out of range returns the zero
// value. Nothing keeps a []byte argument after the call.
//
// No panic reaches the caller: every function and method recovers. The zero
// values of the types, which Java can create, and nil answer with errors. Code
// returns the kind of an error.
//
// A Preprocessor and a Pipe are safe for concurrent use. The other types are
// not.
package mobile

import (
	"runtime/metrics"

	"github.com/infer-prep/infer-prep/internal/version"
)

// Version returns the version of this module, such as "v0.1.0".
func Version() string { return version.Release() }

// HeapSize returns the bytes of the objects that were alive in the last garbage
// collection of Go's heap, 0 before the first. The tools of a JVM do not count
// them.
func HeapSize() (n int64) {
	defer guardValue()
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}
