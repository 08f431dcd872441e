package modelbundle

import "bytes"

// Detect reports whether head begins a bundle.
func Detect(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
