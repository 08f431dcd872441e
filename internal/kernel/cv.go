package kernel

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// CVFilter is an interpolation of OpenCV with a fixed number of taps.
type CVFilter uint8

// The filters. CVAreaUp is INTER_AREA for an axis that grows.
const (
	CVLinear CVFilter = iota
	CVCubic
	CVLanczos4
	CVAreaUp
)

// Taps returns the number of weights per output pixel.
func (f CVFilter) Taps() int {
	switch f {
	case CVCubic:
		return 4
	case CVLanczos4:
		return 8
	}
	return 2
}

// CVTaps is OpenCV's table of one axis. Output i is the sum of the K inputs at
// Index[i*K:], which are clamped to the image. The weights are WI (8-bit
// images, 11 fractional bits) or WF.
type CVTaps struct {
	K     int
	Index []int32
	WI    []int32
	WF    []float32
	// FromFirst adds the four rows of a vertical axis of an 8-bit image in
	// ascending order, as OpenCV 3.4.2 does. By default the order is
	// descending.
	FromFirst bool

	// The fields below are for a horizontal axis of two or four taps. first
	// holds the first input of each output, in ascending order. pair holds the
	// weights WI as words, two per dword. With two taps, the second weight is 0
	// if there is no second neighbour. With four taps, the taps of the outputs
	// in [inner[0], inner[1]) are adjacent. Only Resize sets these fields.
	first, pair []int32
	inner       [2]int
}

const cvBits = 11 // INTER_RESIZE_COEF_BITS

// Resize fills the table of an axis. If both taps fall on the border's pixel, a
// vertical axis keeps their weights, and a horizontal axis sets them to 1 and
// 0. Source: modules/imgproc/src/resize.cpp of OpenCV 5.0.0.
func (t *CVTaps) Resize(in, out int, f CVFilter, vertical bool) {
	t.ResizeBy(in, out, float64(out)/float64(in), f, vertical)
}

// ResizeBy is Resize for a scale that is not the quotient of the sizes:
// cv2.resize with fx and fy. inv is fx or fy.
func (t *CVTaps) ResizeBy(in, out int, inv float64, f CVFilter, vertical bool) {
	k := f.Taps()
	t.K = k
	t.Index, t.WI, t.WF = grow(t.Index, out*k), grow(t.WI, out*k), grow(t.WF, out*k)
	scale := 1 / inv
	for i := range out {
		var s int
		var fx float32
		if f == CVAreaUp {
			s = int(math.Floor(float64(float64(i) * scale)))
			fx = float32(float64(i+1) - float64(float64(s+1)*inv))
			if fx <= 0 {
				fx = 0
			} else {
				fx -= float32(math.Floor(float64(fx)))
			}
		} else {
			fx = float32(float64((float64(i)+0.5)*scale) - 0.5)
			s = int(math.Floor(float64(fx)))
			fx -= float32(s)
		}
		if k == 2 && !vertical {
			if s < 0 {
				s, fx = 0, 0
			}
			if s >= in-1 {
				s, fx = in-1, 0
			}
		}
		w := t.WF[i*k:][:k]
		switch f {
		case CVCubic:
			cvCubic(w, fx)
		case CVLanczos4:
			cvLanczos4(w, fx)
		default:
			w[0], w[1] = 1-fx, fx
		}
		for j, v := range w {
			t.WI[i*k+j] = int32(min(max(math.RoundToEven(float64(float32(v*(1<<cvBits)))), math.MinInt16), math.MaxInt16))
			t.Index[i*k+j] = int32(min(max(s-k/2+1+j, 0), in-1))
		}
	}
	t.first, t.pair = t.first[:0], t.pair[:0]
	t.inner = [2]int{out, out}
	if k > 4 || vertical {
		return
	}
	for i := range out {
		index := t.Index[i*k:][:k]
		t.first = append(t.first, index[0])
		for j := i * k; j < (i+1)*k; j += 2 {
			t.pair = append(t.pair, t.WI[j]&0xFFFF|t.WI[j+1]<<16)
		}
		if int(index[k-1]-index[0]) == k-1 {
			t.inner[0] = min(t.inner[0], i)
			t.inner[1] = i + 1
		}
	}
}

func cvCubic(w []float32, x float32) {
	const a = float32(-0.75)
	y := x + 1
	w[0] = float32(float32((float32((float32(a*y)-5*a)*y)+8*a)*y)) - 4*a
	w[1] = float32(float32((float32((a+2)*x)-(a+3))*x)*x) + 1
	y = 1 - x
	w[2] = float32(float32((float32((a+2)*y)-(a+3))*y)*y) + 1
	w[3] = 1 - w[0] - w[1] - w[2]
}

func cvLanczos4(w []float32, x float32) {
	const h = 0.70710678118654752440084436210485
	turn := [8][2]float64{{1, 0}, {-h, -h}, {0, 1}, {h, -h}, {-1, 0}, {h, h}, {0, -1}, {-h, h}}
	s, c := exactmath.SinCosFast(float64(float64(x+3) * math.Pi * 0.25))
	s = -s
	var sum float32
	for i := range w {
		d := x + 3 - float32(i)
		if math.Abs(float64(d)) >= float64(float32(1e-6)) {
			y := float64(float64(-d) * math.Pi * 0.25)
			w[i] = float32((float64(turn[i][0]*s) + float64(turn[i][1]*c)) / float64(y*y))
		} else {
			w[i] = 1e30
		}
		sum += w[i]
	}
	sum = 1 / sum
	for i := range w {
		w[i] = float32(w[i] * sum)
	}
}

// CVRowU8 computes one row of OpenCV's horizontal pass over 8-bit pixels: sums
// with 11 fractional bits.
func CVRowU8(dst []int32, src []uint8, ch int, index, w []int32, k int) {
	n := len(index) / k
	if k == 2 {
		index, w = index[:2*n], w[:2*n]
		switch ch {
		case 1:
			for x := range dst[:n] {
				dst[x] = int32(src[index[2*x]])*w[2*x] + int32(src[index[2*x+1]])*w[2*x+1]
			}
			return
		case 3:
			for x := range n {
				a, b := src[int(index[2*x])*3:][:3], src[int(index[2*x+1])*3:][:3]
				t, u := w[2*x], w[2*x+1]
				o := dst[x*3:][:3]
				o[0] = int32(a[0])*t + int32(b[0])*u
				o[1] = int32(a[1])*t + int32(b[1])*u
				o[2] = int32(a[2])*t + int32(b[2])*u
			}
			return
		case 4:
			for x := range n {
				a, b := src[int(index[2*x])*4:][:4], src[int(index[2*x+1])*4:][:4]
				t, u := w[2*x], w[2*x+1]
				o := dst[x*4:][:4]
				o[0] = int32(a[0])*t + int32(b[0])*u
				o[1] = int32(a[1])*t + int32(b[1])*u
				o[2] = int32(a[2])*t + int32(b[2])*u
				o[3] = int32(a[3])*t + int32(b[3])*u
			}
			return
		}
	}
	for x := range n {
		p, q, o := index[x*k:][:k], w[x*k:][:k], dst[x*ch:][:ch]
		clear(o)
		for i, t := range q {
			a := src[int(p[i])*ch:][:ch]
			for c, v := range a {
				o[c] += int32(v) * t
			}
		}
	}
}

// CVRowF32 is CVRowU8 for float32 pixels.
func CVRowF32(dst, src []float32, ch int, index []int32, w []float32, k int) {
	n := len(index) / k
	for x := range n {
		p, q, o := index[x*k:][:k], w[x*k:][:k], dst[x*ch:][:ch]
		for c := range o {
			o[c] = float32(src[int(p[0])*ch+c] * q[0])
		}
		for i := 1; i < k; i++ {
			a, t := src[int(p[i])*ch:][:ch], q[i]
			for c, v := range a {
				o[c] += float32(v * t)
			}
		}
	}
}

// CVMixLinearU8 mixes two rows of sums into bytes. Intermediate results are
// truncated as in OpenCV's vertical pass.
func CVMixLinearU8(dst []uint8, a, b []int32, t, u int32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		v := ((t*(a[i]>>4))>>16 + (u*(b[i]>>4))>>16 + 2) >> 2
		dst[i] = uint8(min(max(v, 0), 255))
	}
}

// CVMixCubicU8 mixes four rows of sums. The last len%lanes elements are
// computed with integers, the others in float32, as in OpenCV's vector code.
func CVMixCubicU8(dst []uint8, a, b, c, d []int32, w []int32, lanes int) {
	const one = float32(1) / (1 << (2 * cvBits))
	n := len(dst)
	a, b, c, d, w = a[:n], b[:n], c[:n], d[:n], w[:4]
	t, u, v, z := float32(float32(w[0])*one), float32(float32(w[1])*one), float32(float32(w[2])*one), float32(float32(w[3])*one)
	i := cvMixCubic(dst[:n-n%lanes], a, b, c, d, [4]float32{t, u, v, z})
	for ; i < n-n%lanes; i++ {
		s := float32(float32(d[i]) * z)
		s = float32(float32(c[i])*v) + s
		s = float32(float32(b[i])*u) + s
		s = float32(float32(a[i])*t) + s
		dst[i] = roundU8(s)
	}
	for ; i < n; i++ {
		s := a[i]*w[0] + b[i]*w[1] + c[i]*w[2] + d[i]*w[3]
		dst[i] = uint8(min(max((s+1<<(2*cvBits-1))>>(2*cvBits), 0), 255))
	}
}

// CVMixU8 mixes k rows of sums with integers only. Row j of sums starts at
// rows[j].
func CVMixU8(dst []uint8, sums []int32, rows []int, w []int32) {
	for i := range dst {
		s := int32(1 << (2*cvBits - 1))
		for j, r := range rows {
			s += sums[r+i] * w[j]
		}
		dst[i] = uint8(min(max(s>>(2*cvBits), 0), 255))
	}
}

// CVMixF32 mixes rows of float32 sums in ascending order.
func CVMixF32(dst, sums []float32, rows []int, w []float32) {
	n := len(dst)
	for j, r := range rows {
		a, t := sums[r:][:n], w[j]
		if j == 0 {
			for i, v := range a {
				dst[i] = float32(v * t)
			}
			continue
		}
		for i, v := range a {
			dst[i] += float32(v * t)
		}
	}
}

// CVMixBackF32 mixes rows of float32 sums in descending order, as OpenCV's
// vector code does. The last len%lanes elements use ascending order.
func CVMixBackF32(dst, sums []float32, rows []int, w []float32, lanes int) {
	n := len(dst) - len(dst)%lanes // lanes may be more than there are
	k := len(rows) - 1
	for j := k; j >= 0; j-- {
		a, t := sums[rows[j]:][:n], w[j]
		if j == k {
			for i, v := range a {
				dst[i] = float32(v * t)
			}
			continue
		}
		for i, v := range a {
			dst[i] = float32(v*t) + dst[i]
		}
	}
	for j, r := range rows {
		a, t := sums[r+n:][:len(dst)-n], w[j]
		for i, v := range a {
			if j == 0 {
				dst[n+i] = float32(v * t)
			} else {
				dst[n+i] += float32(v * t)
			}
		}
	}
}

// roundU8 is OpenCV's saturate_cast of a float to a byte: rounded half to even
// and clamped.
func roundU8(v float32) uint8 {
	return uint8(min(max(math.RoundToEven(float64(v)), 0), 255))
}

// AreaTab is OpenCV's table of an axis that shrinks by INTER_AREA. Entry i adds
// input In[i], weighted by W[i], to output Out[i].
type AreaTab struct {
	In, Out []int32
	W       []float32

	// The fields below hold the same table with k inputs per output, from first
	// on; inputs that do not contribute have weight 0. fixed holds the weights
	// by output, across by position. k is 0 if an output has no input. Only
	// Resize sets these fields.
	k             int
	first         []int32
	fixed, across []float32
	row           []float32 // scratch; all numbers are finite
}

// Resize fills the table. Source: computeResizeAreaTab of OpenCV 5.0.0.
func (t *AreaTab) Resize(in, out int) {
	t.In, t.Out, t.W = t.In[:0], t.Out[:0], t.W[:0]
	scale := 1 / (float64(out) / float64(in))
	add := func(s, d int, w float64) {
		t.In, t.Out, t.W = append(t.In, int32(s)), append(t.Out, int32(d)), append(t.W, float32(w))
	}
	for d := range out {
		lo := float64(float64(d) * scale)
		hi := lo + scale
		cell := min(scale, float64(in)-lo)
		s1, s2 := int(math.Ceil(lo)), int(math.Floor(hi))
		s2 = min(s2, in-1)
		s1 = min(s1, s2)
		if float64(s1)-lo > 1e-3 {
			add(s1-1, d, (float64(s1)-lo)/cell)
		}
		for s := s1; s < s2; s++ {
			add(s, d, 1/cell)
		}
		if hi-float64(s2) > 1e-3 {
			add(s2, d, min(min(hi-float64(s2), 1), cell)/cell)
		}
	}
	t.regular(in, out)
}

// regular fills the tables with a fixed number of inputs.
func (t *AreaTab) regular(in, out int) {
	t.first = grow(t.first, out)
	count := grow(t.across, out)[:out] // temporary use of the memory
	clear(count)
	t.k = 0
	for i, d := range t.Out {
		if count[d] == 0 {
			t.first[d] = t.In[i]
		}
		count[d]++
		t.k = max(t.k, int(count[d]))
	}
	for _, n := range count {
		if n == 0 {
			t.k = 0
			return
		}
	}
	t.fixed, t.across = grow(t.fixed, out*t.k), grow(t.across, out*t.k)
	clear(t.fixed)
	clear(t.across)
	for d := range t.first {
		t.first[d] = min(t.first[d], int32(in-t.k))
	}
	for i, w := range t.W {
		d := int(t.Out[i])
		j := int(t.In[i] - t.first[d])
		t.fixed[d*t.k+j], t.across[j*out+d] = w, w
	}
}

// CVAreaRow adds the weighted pixels of one row. dst has the output's width.
func CVAreaRow[T uint8 | float32](dst []float32, src []T, ch int, in, out []int32, w []float32) {
	clear(dst)
	in, out = in[:len(w)], out[:len(w)]
	switch ch {
	case 1:
		for i, t := range w {
			dst[out[i]] += float32(float32(src[in[i]]) * t)
		}
	case 3:
		for i, t := range w {
			p, o := src[int(in[i])*3:][:3], dst[int(out[i])*3:][:3]
			o[0] += float32(float32(p[0]) * t)
			o[1] += float32(float32(p[1]) * t)
			o[2] += float32(float32(p[2]) * t)
		}
	default:
		for i, t := range w {
			p, o := src[int(in[i])*ch:][:ch], dst[int(out[i])*ch:][:ch]
			for c, v := range p {
				o[c] += float32(float32(v) * t)
			}
		}
	}
}

// RoundU8 rounds sums half to even and clamps them to 0..255.
func RoundU8(dst []uint8, src []float32) {
	src = src[:len(dst)]
	for i := roundsU8(dst, src); i < len(dst); i++ {
		dst[i] = roundU8(src[i])
	}
}

// CVAreaFastU8 averages blocks of sx x sy pixels. The blocks must divide the
// image.
func CVAreaFastU8(dst, src []uint8, outH, outW, ch, sx, sy int) {
	line := outW * sx * ch
	two := sx == 2 && sy == 2 && (ch == 1 || ch == 3 || ch == 4)
	scale := float32(1) / float32(sx*sy)
	for y := range outH {
		out, in := dst[y*outW*ch:][:outW*ch], src[y*sy*line:][:sy*line]
		if !two {
			cvAreaBlocks(out, in, line, ch, sx, sy, scale)
			continue
		}
		a, b := in[:line], in[line:][:line]
		for x := cvHalf(out, a, b, ch); x < outW; x++ {
			for c := range ch {
				i := x*2*ch + c
				out[x*ch+c] = uint8((uint32(a[i]) + uint32(a[i+ch]) + uint32(b[i]) + uint32(b[i+ch]) + 2) >> 2)
			}
		}
	}
}

// cvAreaBlocks computes one row of CVAreaFastU8.
func cvAreaBlocks(out, in []uint8, line, ch, sx, sy int, scale float32) {
	const most = 2048 // elements of a row per step
	block := sx * ch
	if block > most || sy > math.MaxUint16/255 {
		for i := range out {
			s := int32(0)
			for j := range sy {
				p := in[j*line+i/ch*block+i%ch:]
				for k := 0; k < block; k += ch {
					s += int32(p[k])
				}
			}
			out[i] = roundU8(float32(float32(s) * scale))
		}
		return
	}
	// sumBlocks reads and writes beyond the last pixel.
	var columns [most + 4]uint16
	var means [most + 4]float32
	for len(out) > 0 {
		n := min(len(out)/ch, most/block) // pixels
		sums := columns[:n*block]
		done := sumRows(sums, in, sy, line)
		clear(sums[done:])
		for j := range sy {
			row := in[j*line:][:len(sums)]
			for i := done; i < len(row); i++ {
				sums[i] += uint16(row[i])
			}
		}
		for x := sumBlocks(means[:], columns[:], n, sx, ch, scale); x < n; x++ {
			p := sums[x*block:][:block]
			for c := range ch {
				s := int32(0)
				for k := c; k < len(p); k += ch {
					s += int32(p[k])
				}
				means[x*ch+c] = float32(float32(s) * scale)
			}
		}
		RoundU8(out[:n*ch], means[:n*ch])
		out, in = out[n*ch:], in[min(n*block, len(in)):]
	}
}

// CVAreaFastF32 is CVAreaFastU8 for float32 pixels. The sums follow OpenCV's
// order: four pixels at a time. Blocks of 2 x 2 pixels sum each row separately,
// for 4 channels and for groups of four outputs of 1 channel.
func CVAreaFastF32(dst, src []float32, outH, outW, ch, sx, sy int) {
	line := outW * sx * ch
	scale := float32(1) / float32(sx*sy)
	apart := 0 // outputs of a row that sum each input row separately
	if sx == 2 && sy == 2 {
		switch ch {
		case 1:
			apart = outW &^ 3
		case 4:
			apart = outW
		}
	}
	for y := range outH {
		out, in := dst[y*outW*ch:][:outW*ch], src[y*sy*line:][:sy*line]
		for x := range outW {
			for c := range ch {
				at := x*sx*ch + c
				if x < apart {
					out[x*ch+c] = float32(((in[at] + in[at+ch]) + (in[line+at] + in[line+at+ch])) * scale)
					continue
				}
				var sum, four float32
				n := 0
				for j := range sy {
					p := in[j*line+at:]
					for i := 0; i < sx*ch; i += ch {
						if n&3 == 0 {
							four = p[i]
						} else {
							four += p[i]
						}
						if n++; n&3 == 0 {
							sum += four
						} else if n > sx*sy&^3 {
							sum += p[i]
						}
					}
				}
				out[x*ch+c] = float32(sum * scale)
			}
		}
	}
}

// CVScratch is scratch memory that the CVResize functions reuse.
type CVScratch struct {
	held [8]int32 // the input row in each slot of the row buffer
	rows [8]int   // the start of each row that an output row needs
}

// begin forgets the rows of the previous image. It returns the starts of the k
// rows that an output row needs.
func (t *CVScratch) begin(k int) []int {
	for i := range t.held {
		t.held[i] = -1
	}
	return t.rows[:k]
}

// place assigns input row r, the j-th of k neighbours, to a slot of the row
// buffer. It reports whether the row must be computed.
func (t *CVScratch) place(j int, r int32, k, line int) bool {
	slot := int(r) % k // the k rows are adjacent, so their slots differ
	t.rows[j] = slot * line
	fresh := t.held[slot] != r
	t.held[slot] = r
	return fresh
}

// CVResizeU8 scales one image of 8-bit pixels. rows is scratch for y.K rows of
// outW*ch sums.
func CVResizeU8(dst, src []uint8, inW, outW, ch int, x, y *CVTaps, rows []int32, t *CVScratch) {
	if cvLinearU8(dst, src, inW, outW, ch, x, y, rows, t) {
		return
	}
	line, k := outW*ch, y.K
	at := t.begin(k)
	for o := range len(y.Index) / k {
		for j, r := range y.Index[o*k:][:k] {
			if t.place(j, r, k, line) {
				sums, row := rows[at[j]:][:line], src[int(r)*inW*ch:]
				from, to := cvCubicRow(sums, row, inW, ch, x)
				row = row[:inW*ch]
				CVRowU8(sums[:from*ch], row, ch, x.Index[:from*x.K], x.WI[:from*x.K], x.K)
				CVRowU8(sums[to*ch:], row, ch, x.Index[to*x.K:], x.WI[to*x.K:], x.K)
			}
		}
		out, w := dst[o*line:][:line], y.WI[o*k:][:k]
		switch k {
		case 2:
			CVMixLinearU8(out, rows[at[0]:][:line], rows[at[1]:][:line], w[0], w[1])
		case 4:
			if y.FromFirst {
				CVMixCubicU8(out, rows[at[3]:][:line], rows[at[2]:][:line], rows[at[1]:][:line], rows[at[0]:][:line], []int32{w[3], w[2], w[1], w[0]}, 8)
				break
			}
			CVMixCubicU8(out, rows[at[0]:][:line], rows[at[1]:][:line], rows[at[2]:][:line], rows[at[3]:][:line], w, 8)
		default:
			CVMixU8(out, rows, at, w)
		}
	}
}

// CVResizeF32 is CVResizeU8 for float32 pixels. lanes is that of CVMixBackF32,
// which mixes more than two rows.
func CVResizeF32(dst, src []float32, inW, outW, ch int, x, y *CVTaps, rows []float32, t *CVScratch, lanes int) {
	line, k := outW*ch, y.K
	at := t.begin(k)
	for o := range len(y.Index) / k {
		for j, r := range y.Index[o*k:][:k] {
			if t.place(j, r, k, line) {
				CVRowF32(rows[at[j]:][:line], src[int(r)*inW*ch:][:inW*ch], ch, x.Index, x.WF, x.K)
			}
		}
		out, w := dst[o*line:][:line], y.WF[o*k:][:k]
		if k == 2 {
			CVMixF32(out, rows, at, w)
		} else {
			CVMixBackF32(out, rows, at, w, lanes)
		}
	}
}

// CVAreaU8 shrinks one image of 8-bit pixels. buf and sum are scratch of
// outW*ch elements.
func CVAreaU8(dst, src []uint8, inW, outW, ch int, x, y *AreaTab, buf, sum []float32) {
	line := outW * ch
	buf, sum = buf[:line], sum[:line]
	for j, w := range y.W {
		// A row that contributes to two output rows is summed once.
		if j == 0 || y.In[j] != y.In[j-1] {
			row := src[int(y.In[j])*inW*ch:][:inW*ch]
			if !cvAreaRowU8(buf, row, ch, x) {
				CVAreaRow(buf, row, ch, x.In, x.Out, x.W)
			}
		}
		addScaled(sum, buf, w, j == 0 || y.Out[j] != y.Out[j-1])
		if j+1 == len(y.W) || y.Out[j+1] != y.Out[j] {
			RoundU8(dst[int(y.Out[j])*line:][:line], sum)
		}
	}
}

// CVAreaF32 is CVAreaU8 for float32 pixels.
func CVAreaF32(dst, src []float32, inW, outW, ch int, x, y *AreaTab, buf, sum []float32) {
	line := outW * ch
	buf, sum = buf[:line], sum[:line]
	for j, w := range y.W {
		// A row that contributes to two output rows is summed once.
		if j == 0 || y.In[j] != y.In[j-1] {
			CVAreaRow(buf, src[int(y.In[j])*inW*ch:][:inW*ch], ch, x.In, x.Out, x.W)
		}
		addScaled(sum, buf, w, j == 0 || y.Out[j] != y.Out[j-1])
		if j+1 == len(y.W) || y.Out[j+1] != y.Out[j] {
			copy(dst[int(y.Out[j])*line:][:line], sum)
		}
	}
}

func addScaled(sum, buf []float32, w float32, first bool) {
	buf = buf[:len(sum)]
	done := addsScaled(sum, buf, w, first)
	buf, sum = buf[done:], sum[done:]
	if first {
		for i, v := range buf {
			sum[i] = float32(v * w)
		}
		return
	}
	for i, v := range buf {
		sum[i] += float32(v * w)
	}
}
