package kernel

import "slices"

// Mirror makes t, which has fixed-point weights, the table for an input that is
// read backwards, its pixel i being pixel at-i. The outputs are then in reverse
// order too, so that Start ascends again.
func (t *Taps) Mirror(at int) {
	slices.Reverse(t.Start)
	slices.Reverse(t.Len)
	last := len(t.Start) - 1
	for i := 0; i < last-i; i++ {
		a, b := t.W32[i*t.K:][:t.K], t.W32[(last-i)*t.K:][:t.K]
		for k, v := range a {
			a[k], b[k] = b[k], v
		}
	}
	for i, n := range t.Len {
		t.Start[i] = int32(at) - (t.Start[i] + n - 1)
		slices.Reverse(t.W32[i*t.K:][:n])
	}
	t.pack()
}
