//go:build !amd64 || purego

package kernel

// Run does nothing.
func (z *Inflate) Run(_ *InflateLit, _ *InflateDist, _ []byte, pos int, _ []byte, w int) (int, int) {
	return pos, w
}
