// Package kernel holds the loops of the ops: pure functions over slices, which
// allocate nothing and know nothing of tensors. They are the reference in plain
// Go; assembly, where there is some, gives the same bytes.
//
// An image is rows of pixels of ch channels that lie one after another. Planar
// images are ch = 1 and more rows.
package kernel
