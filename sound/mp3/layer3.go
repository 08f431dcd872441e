package mp3

import (
	"math"
	"sync"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

const (
	granule   = 576 // samples
	subbands  = 32
	lines     = 18   // frequencies of a subband, and samples of it in a granule
	reservoir = 511  // bytes of earlier frames that a frame may use
	maxBody   = 1441 // bytes of the largest frame
)

// channel is the side information of one channel of a granule.
type channel struct {
	length    int // of scale factors and values, in bits
	pairs     int // of big values
	gain      int
	compress  int // of the scale factors
	switched  bool
	block     int // 0 long, 1 start, 2 short, 3 stop
	mixed     bool
	tables    [3]int
	subgain   [3]int
	region    [2]int // end of the first and second region of pairs, in lines
	preflag   bool
	scale     int // of the scale factors, 0 or 1
	quads     int // table of the values after the pairs
	share     int // bits: which groups have the factors of granule 0
	factors   [40]uint8
	first     [3]int // the band after the last nonzero one, for each window
	firstLong int    // the same of long blocks
	afterLast int    // the line after the last nonzero one
}

// band is a scale factor band: n values at start, start+step, ...
type band struct {
	start, step, n int
	window         int // of a short block; 3 if long
	number         int // of the bands of its kind
}

// The kinds of blocks, for bands.
const (
	long = iota
	short
	mixed
)

// tables are computed once, when the first sound is opened.
type tables struct {
	bands   [8][3][]band
	ends    [8][23]int         // of long bands: ends[i] is the start of band i
	pow43   [8192 + 16]float64 // x^(4/3)
	quarter [4]float64         // 2^(i/4)
	pan     [7][2]float64      // of intensity stereo in MPEG-1
	synthesis
}

var shared = sync.OnceValue(func() *tables {
	t := &tables{}
	for row := range t.bands {
		at := 0
		for i, w := range longWidths[row] {
			n := int(w)
			t.bands[row][long] = append(t.bands[row][long], band{start: at, step: 1, n: n, window: 3, number: i})
			if row >= 5 && i < 8 || i < 6 {
				t.bands[row][mixed] = append(t.bands[row][mixed], t.bands[row][long][i])
			}
			at += n
			t.ends[row][i+1] = at
		}
		at = 0
		for i, w := range shortWidths[row] {
			n := int(w)
			for window := range 3 {
				b := band{start: at + window, step: 3, n: n, window: window, number: i}
				t.bands[row][short] = append(t.bands[row][short], b)
				if i >= 3 {
					t.bands[row][mixed] = append(t.bands[row][mixed], b)
				}
			}
			at += 3 * n
		}
	}
	for x := range t.pow43 {
		t.pow43[x] = exactmath.Pow(float64(x), 4./3)
	}
	for i := range t.quarter {
		t.quarter[i] = exactmath.Pow(2, float64(i)/4)
	}
	for i := range 6 {
		r := exactmath.Tan(float64(i) * (math.Pi / 12))
		t.pan[i] = [2]float64{r / (1 + r), 1 / (1 + r)}
	}
	t.pan[6] = [2]float64{1, 0}
	t.synthesis.compute()
	return t
})

// power returns 2^(q/4).
func (t *tables) power(q int) float64 { return math.Ldexp(t.quarter[q&3], q>>2) }

// layer3 decodes frames. Its memory lasts from frame to frame.
type layer3 struct {
	*tables
	frameHeader
	main  [reservoir + maxBody + spareBytes]byte
	kept  int // bytes at the start of main, of earlier frames
	usage int // bytes of them that a frame may use
	side  [2][2]channel
	xr    [2][granule]float64
	state [2]filterState
	pcm   [2][2 * granule]float32
}

// reset forgets all frames.
func (d *layer3) reset() {
	d.tables = shared()
	d.kept, d.usage = 0, 0
	d.state = [2]filterState{}
}

// gap is called between two frames if there was something else between them.
// The filters start anew, as in mpg123, which keeps the overlap.
func (d *layer3) gap() {
	for c := range d.state {
		clear(d.state[c].parts[:])
	}
}

// decode decodes a frame, whose header has been parsed, into pcm. What cannot
// be decoded is silent.
func (d *layer3) decode(frame []byte) {
	side := frame[d.body():][:d.sideBytes()]
	data := frame[d.body()+len(side):]
	var head [32 + spareBytes]byte
	copy(head[:], side)
	r := bitReader{data: head[:]}
	begin, ok := d.readSide(&r)
	if begin > d.usage { // data is missing: a frame of zeros
		begin, ok = 0, true
		for g := range d.side {
			for c := range d.side[g] {
				d.side[g][c] = channel{}
				d.regions(&d.side[g][c], 0, 0)
			}
		}
	}
	limit := reservoir
	if d.version > 0 {
		limit = 255
	}
	d.usage = min(d.usage+len(data), limit)

	total := d.kept + len(data)
	copy(d.main[d.kept:], data)
	clear(d.main[total:][:spareBytes])
	done := 0
	if ok {
		r = bitReader{data: d.main[:total+spareBytes], pos: 8 * (d.kept - begin)}
		for done < d.granules() && d.granule(&r, done, 8*total) {
			done++
		}
	}
	for c := range d.channels {
		clear(d.pcm[c][done*granule : d.samples()])
	}
	d.kept = copy(d.main[:], d.main[max(0, total-reservoir):total])
}

// granule decodes a granule. It reports false if that is not possible; the
// filters then have not changed.
func (d *layer3) granule(r *bitReader, g, end int) bool {
	side := &d.side[g]
	for c := range d.channels {
		s := &side[c]
		limit := r.pos + s.length
		if limit > end {
			return false
		}
		if d.version == 0 {
			d.factors1(r, g, c)
		} else if !d.factors2(r, s, d.is && c == 1) {
			return false
		}
		if r.pos > end {
			return false
		}
		if !d.values(r, s, &d.xr[c], limit) {
			return false
		}
		r.pos = limit
	}
	if d.ms {
		a, b := &d.xr[0], &d.xr[1]
		for i := range max(side[0].afterLast, side[1].afterLast) {
			a[i], b[i] = a[i]+b[i], a[i]-b[i]
		}
	}
	if d.is {
		d.intensity(&side[1])
	}
	if d.ms || d.is {
		n := max(side[0].afterLast, side[1].afterLast)
		side[0].afterLast, side[1].afterLast = n, n
	}
	for c := range d.channels {
		d.hybrid(&d.state[c], &side[c], &d.xr[c], d.pcm[c][g*granule:][:granule])
	}
	return true
}

// readSide reads the side information. It returns the bytes of earlier frames
// that the frame uses, and reports false if the information is invalid.
func (d *layer3) readSide(r *bitReader) (begin int, ok bool) {
	if d.version == 0 {
		begin = r.bits(9)
		r.bits([3]int{0, 5, 3}[d.channels])
		for c := range d.channels {
			d.side[0][c].share, d.side[1][c].share = 0, r.bits(4)
		}
	} else {
		begin = r.bits(8)
		r.bits(d.channels)
	}
	for g := range d.granules() {
		for c := range d.channels {
			if !d.readChannel(r, &d.side[g][c]) {
				return begin, false
			}
		}
	}
	return begin, true
}

func (d *layer3) readChannel(r *bitReader, s *channel) bool {
	*s = channel{share: s.share}
	s.length = r.bits(12)
	s.pairs = min(r.bits(9), granule/2)
	s.gain = r.bits(8)
	if d.version == 0 {
		s.compress = r.bits(4)
	} else {
		s.compress = r.bits(9)
		s.share = 0
	}
	if s.length == 0 {
		s.compress = 0
	}
	if s.switched = r.bits(1) == 1; s.switched {
		s.block = r.bits(2)
		s.mixed = r.bits(1) == 1
		s.tables = [3]int{r.bits(5), r.bits(5), 0}
		s.subgain = [3]int{r.bits(3), r.bits(3), r.bits(3)}
		if s.block == 0 {
			return false
		}
		d.regions(s, 0, 0)
	} else {
		s.tables = [3]int{r.bits(5), r.bits(5), r.bits(5)}
		first := r.bits(4)
		d.regions(s, first, r.bits(3))
	}
	if d.version == 0 {
		s.preflag = r.bits(1) == 1
	}
	s.scale = r.bits(1)
	s.quads = r.bits(1)
	return true
}

// regions sets the ends of the regions of pairs. first and second are the
// numbers of bands less 1, if the block is an ordinary one.
func (d *layer3) regions(s *channel, first, second int) {
	ends := &d.ends[d.frameHeader.bands]
	switch {
	case !s.switched:
		s.region[0], s.region[1] = ends[first+1], granule
		if n := first + second + 2; n < len(ends) {
			s.region[1] = ends[n]
		}
	case d.version == 2 && s.block == 2 && !s.mixed:
		s.region = [2]int{ends[6], granule}
	case d.version == 2:
		s.region = [2]int{ends[8], granule}
	case d.version == 0 || s.block == 2:
		s.region = [2]int{36, granule}
	default:
		s.region = [2]int{54, granule}
	}
}

// factorBits has the bits of the scale factors in MPEG-1.
var factorBits = [16][2]int{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {3, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}, {3, 3}, {4, 2}, {4, 3}}

// factors1 reads the scale factors of MPEG-1.
func (d *layer3) factors1(r *bitReader, g, c int) {
	s := &d.side[g][c]
	n := factorBits[s.compress]
	at := 0
	read := func(count, bits int) {
		for range count {
			s.factors[at] = uint8(r.bits(bits))
			at++
		}
	}
	if s.block == 2 {
		if s.mixed {
			read(17, n[0])
		} else {
			read(18, n[0])
		}
		read(18, n[1])
		return
	}
	for i, count := range [4]int{6, 5, 5, 5} {
		if s.share&(8>>i) != 0 {
			copy(s.factors[at:at+count], d.side[0][c].factors[at:])
			at += count
		} else {
			read(count, n[i/2])
		}
	}
}

// factorGroups has the numbers of scale factors in MPEG-2: of long, short and
// mixed blocks.
var factorGroups = [3][6][4]int{
	{{6, 5, 5, 5}, {6, 5, 7, 3}, {11, 10, 0, 0}, {7, 7, 7, 0}, {6, 6, 6, 3}, {8, 8, 5, 0}},
	{{9, 9, 9, 9}, {9, 9, 12, 6}, {18, 18, 0, 0}, {12, 12, 12, 0}, {12, 9, 9, 6}, {15, 12, 9, 0}},
	{{6, 9, 9, 9}, {6, 9, 12, 6}, {15, 18, 0, 0}, {6, 15, 12, 0}, {6, 12, 9, 6}, {6, 18, 9, 0}},
}

// factorCodes says how a compress of MPEG-2 is a number of mixed radix: the
// radices of its four digits, which are numbers of bits. The first three are of
// ordinary channels, the others of the right one of intensity stereo.
var factorCodes = [6][4]int{{5, 5, 4, 4}, {5, 5, 4, 1}, {4, 3, 1, 1}, {5, 6, 6, 1}, {4, 4, 4, 1}, {4, 3, 1, 1}}

// factors2 reads the scale factors of MPEG-2 and 2.5. It reports false if they
// are longer than the channel.
func (d *layer3) factors2(r *bitReader, s *channel, right bool) bool {
	code, compress := 0, s.compress
	if right {
		code, compress = 3, compress>>1
	}
	for {
		n := factorCodes[code]
		if size := n[0] * n[1] * n[2] * n[3]; compress >= size && code != 2 && code != 5 {
			compress -= size
			code++
			continue
		}
		break
	}
	s.preflag = code == 2
	var bits [4]int
	for i := 3; i >= 0; i-- {
		bits[i] = compress % factorCodes[code][i]
		compress /= factorCodes[code][i]
	}
	kind := long
	if s.block == 2 {
		kind = short
		if s.mixed {
			kind = mixed
		}
	}
	counts := factorGroups[kind][code]
	if sum := counts[0]*bits[0] + counts[1]*bits[1] + counts[2]*bits[2] + counts[3]*bits[3]; sum > s.length {
		return false
	}
	at := 0
	for i, n := range counts {
		for range n {
			s.factors[at] = uint8(r.bits(bits[i]))
			at++
		}
	}
	return true
}

// preemphasis is added to the scale factors of a channel with preflag.
var preemphasis = [22]uint8{11: 1, 1, 1, 1, 2, 2, 3, 3, 3, 2, 0}

// values decodes the values of a channel, which end at the bit limit. It
// reports false if they are longer.
func (d *layer3) values(r *bitReader, s *channel, xr *[granule]float64, limit int) bool {
	clear(xr[:])
	if s.length == 0 {
		s.first, s.firstLong = [3]int{1, 1, 1}, 1 // as in mpg123
		return true
	}
	kind := long
	if s.block == 2 {
		kind = short
		if s.mixed {
			kind = mixed
			s.first = [3]int{3, 3, 3}
		}
	}
	pairs, coded, have := s.pairs, 0, 0
	var quad [4]int8
	bands := d.tables.bands[d.frameHeader.bands][kind]
	for i := range bands {
		b := &bands[i]
		q, f := s.gain-210, int(s.factors[i])
		if d.ms {
			q -= 2
		}
		if b.window < 3 {
			q -= 8 * s.subgain[b.window]
		} else if s.preflag && kind == long {
			f += int(preemphasis[i])
		}
		v := d.power(q - f<<(1+s.scale))
		at, some := b.start, false
		for k := 0; k < b.n; k += 2 {
			var x, y float64
			switch {
			case pairs > 0:
				if r.pos > limit {
					return false
				}
				table := s.tables[2]
				if coded < s.region[0] {
					table = s.tables[0]
				} else if coded < s.region[1] {
					table = s.tables[1]
				}
				x, y = d.pair(r, table)
				pairs--
			case have > 0: // a quadruple may end in another band than it began
				x, y = float64(quad[2]), float64(quad[3])
				have--
			default:
				if r.pos >= limit || coded+4 > granule {
					s.ends(b, some)
					return r.pos <= limit || coded > 2*s.pairs
				}
				quad = quadruple(r, s.quads, limit)
				x, y = float64(quad[0]), float64(quad[1])
				have = 1
			}
			if x != 0 || y != 0 {
				xr[at], xr[at+b.step] = x*v, y*v
				some = true
			}
			at += 2 * b.step
			coded += 2
		}
		s.ends(b, some)
	}
	return r.pos <= limit || coded > 2*s.pairs
}

// ends notes that a band has been decoded; some says whether it has a value.
func (s *channel) ends(b *band, some bool) {
	switch {
	case !some:
	case b.window == 3:
		s.firstLong, s.afterLast = b.number+1, b.start+b.n
	default:
		s.first[b.window], s.afterLast = b.number+1, b.start-b.window+3*b.n
	}
}

// pair decodes two big values, to the power of 4/3.
func (d *layer3) pair(r *bitReader, table int) (x, y float64) {
	if table == 0 {
		return 0, 0
	}
	at := codeAt[table]
	w := 5
	leaf := codes[int(at)+int(r.peek(w))]
	for leaf < 0 {
		r.pos += w
		w = int(leaf & 7)
		leaf = codes[int(at)+int(r.peek(w))-int(leaf>>3)]
	}
	r.pos += int(leaf >> 8)
	return d.value(r, int(leaf&15), table), d.value(r, int(leaf>>4&15), table)
}

// value reads the rest of a value and its sign.
func (d *layer3) value(r *bitReader, x, table int) float64 {
	if x == 0 {
		return 0
	}
	if x == 15 {
		x += r.bits(int(linearBits[table]))
	}
	v := d.pow43[x]
	if r.bits(1) == 1 {
		return -v
	}
	return v
}

// quadruple reads four values of -1, 0 or 1. Signs that are missing at the
// limit make the values 0.
func quadruple(r *bitReader, table, limit int) (v [4]int8) {
	codes := quads[table]
	leaf := codes[r.peek(4)]
	if leaf&8 == 0 {
		w := int(leaf & 3)
		leaf = codes[int(leaf>>3)+int(r.peek(4+w)&(1<<w-1))]
	}
	r.pos += int(leaf & 7)
	for i := range v {
		if leaf&(128>>i) == 0 {
			continue
		}
		if r.pos >= limit {
			break
		}
		v[i] = int8(1 - 2*r.bits(1))
	}
	return v
}

// intensity makes two channels of the left one, in the bands after the last
// that the right one has. The right one's scale factors are the positions
// between them.
func (d *layer3) intensity(s *channel) {
	kind := long
	if s.block == 2 {
		kind = short
		if s.mixed {
			kind = mixed
		}
	}
	bands := d.tables.bands[d.frameHeader.bands][kind]
	longs := s.firstLong
	if max(s.first[0], s.first[1], s.first[2]) > 3 {
		longs = len(bands) // no long band of a mixed block
	}
	for i := range bands {
		b := &bands[i]
		position := s.factors[i]
		switch {
		case b.window < 3 && b.number == 12: // the last one has no factor
			position = s.factors[i-3]
		case b.window < 3:
			if b.number < s.first[b.window] {
				continue
			}
		case kind == long && b.number == 21:
			if s.firstLong > 21 {
				continue
			}
			position = s.factors[i-1]
		case kind == long && b.number < s.firstLong, kind == mixed && b.number < longs:
			continue
		}
		d.place(b, int(position))
	}
}

// place moves a band of the left channel to its position.
func (d *layer3) place(b *band, position int) {
	const none = 7
	var l, r float64
	switch n := (position + 1) / 2; {
	case position == none || d.version == 0 && position > none:
		return
	case d.version == 0:
		l, r = d.pan[position][0], d.pan[position][1]
	case position&1 == 1:
		l, r = d.power(-n*(1+d.side[0][1].compress&1)), 1
	default:
		l, r = 1, d.power(-n*(1+d.side[0][1].compress&1))
	}
	if d.ms {
		l, r = l*math.Sqrt2, r*math.Sqrt2
	}
	at := b.start
	for range b.n {
		v := d.xr[0][at]
		d.xr[0][at], d.xr[1][at] = v*l, v*r
		at += b.step
	}
}
