package kernel

import "slices"

// Mirror turns t, which must have fixed-point weights, into the table for an
// input that is read backwards: its pixel i is pixel at-i. The order of the
// outputs is reversed too, so Start still ascends.
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

// Cut keeps the outputs in [from, to). Their inputs become relative to by.
func (t *CVTaps) Cut(from, to, by int) {
	k := t.K
	t.Index = t.Index[:copy(t.Index, t.Index[from*k:to*k])]
	t.WI = t.WI[:copy(t.WI, t.WI[from*k:to*k])]
	t.WF = t.WF[:copy(t.WF, t.WF[from*k:to*k])]
	for i := range t.Index {
		t.Index[i] -= int32(by)
	}
	if len(t.first) == 0 {
		return
	}
	t.first = t.first[:copy(t.first, t.first[from:to])]
	t.pair = t.pair[:copy(t.pair, t.pair[from*k/2:to*k/2])]
	for i := range t.first {
		t.first[i] -= int32(by)
	}
	for i, n := range t.inner {
		t.inner[i] = min(max(n-from, 0), to-from)
	}
}
