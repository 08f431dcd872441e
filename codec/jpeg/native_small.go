//go:build small

package jpeg

// wideRow is never called: small builds have no NewComponentDecoder.
func (d *decoder) wideRow(*component, int, []int32) {}
