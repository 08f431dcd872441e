package kernel

// Rows is an image whose row y starts at byte At + y*Step of Data. Step may be
// negative, which turns the image upside down.
type Rows struct {
	Data     []uint8
	At, Step int
}

// CopyRows copies the first n bytes of rows of src to dst. They must not
// overlap.
func CopyRows(dst, src Rows, n, rows int) {
	if copyRows(dst, src, n, rows) {
		return
	}
	for y := range rows {
		copy(dst.Data[dst.At+y*dst.Step:][:n], src.Data[src.At+y*src.Step:][:n])
	}
}
