// Package classification registers the ops of the graphs of image
// classification, CLIP and box detection, for programs that read such graphs
// and must be small: the small browser build and the Android library. The file
// ops.txt lists them.
package classification

//go:generate go run ../../tools/oplist -package classification -o ops_gen.go ops.txt
