//go:build !purego

package kernel

// copyRows copies in assembly and reports whether it did.
func copyRows(dst, src Rows, n, rows int) bool {
	if n < 128 || rows < 1 || !hasSIMD() {
		return false
	}
	copyRowsAVX2(dst.first(0, rows, 0, n), dst.Step, src.first(0, rows, 0, n), src.Step, n, rows)
	return true
}

// first returns the first of n bytes of row y, after checking that they exist
// in that row and in the last of that many rows.
func (r Rows) first(y, rows, from, n int) *byte {
	at := r.At + y*r.Step + from
	_ = r.Data[at+(rows-1)*r.Step:][:n]
	return &r.Data[at:][:n][0]
}
