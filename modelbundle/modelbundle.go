// Package modelbundle is the file that ships the preprocessing with the model:
// the inference data graph, the model, labels, metadata, and golden samples by
// which any device can prove that it gives the tensors of training.
package modelbundle

import (
	"crypto/sha256"

	"github.com/infer-prep/infer-prep/tensor"
)

// Golden is a sample with the tensors that the graph must make of it.
type Golden struct {
	Name    string
	Input   []byte // encoded, as the graph's input takes it
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
