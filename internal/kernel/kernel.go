// Package kernel implements the inner loops of the ops as pure functions over
// slices. They do not allocate, and they do not depend on tensors. Each
// function has a plain Go version, which is the reference; assembly, where it
// exists, produces the same bytes.
//
// An image is a sequence of rows of pixels of ch channels. A planar image is an
// image with ch = 1 and more rows.
package kernel
