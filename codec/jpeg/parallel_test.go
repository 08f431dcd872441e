package jpeg

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/short"
)

// bitWriter writes entropy-coded data.
type bitWriter struct {
	b   []byte
	acc uint32
	n   int
}

func (w *bitWriter) put(v, n int) {
	for n--; n >= 0; n-- {
		w.acc = w.acc<<1 | uint32(v>>n&1)
		if w.n++; w.n == 8 {
			w.byte()
		}
	}
}

func (w *bitWriter) byte() {
	w.b = append(w.b, byte(w.acc))
	if byte(w.acc) == 0xFF {
		w.b = append(w.b, 0)
	}
	w.acc, w.n = 0, 0
}

// marker pads to a whole byte and writes a marker.
func (w *bitWriter) marker(m byte) {
	for w.n > 0 {
		w.put(1, 1)
	}
	w.b = append(w.b, 0xFF, m)
}

func (w *bitWriter) segment(m byte, b ...byte) {
	w.b = binary.BigEndian.AppendUint16(append(w.b, 0xFF, m), uint16(len(b)+2))
	w.b = append(w.b, b...)
}

// randomJPEG is a baseline file of random coefficients, about many in a block,
// of components with the factors given ("21 11 11"), with a comment of pad
// bytes. Every symbol's code is of 8 bits and its own value.
func randomJPEG(width, height int, factors string, restart, many, pad int) []byte {
	r := rand.New(rand.NewPCG(uint64(width*height), uint64(restart)))
	w := &bitWriter{b: []byte{0xFF, mSOI}}
	var dqt [65]byte
	for i := range 64 {
		dqt[1+i] = byte(3 + i/4)
	}
	w.segment(mDQT, dqt[:]...)
	w.segment(mCOM, make([]byte, pad)...)
	type comp struct{ h, v int }
	var comps []comp
	sof := binary.BigEndian.AppendUint16([]byte{8}, uint16(height))
	sof = binary.BigEndian.AppendUint16(sof, uint16(width))
	var sos []byte
	maxH, maxV := 1, 1
	for _, f := range strings.Fields(factors) {
		c := comp{int(f[0] - '0'), int(f[1] - '0')}
		comps = append(comps, c)
		maxH, maxV = max(maxH, c.h), max(maxV, c.v)
	}
	n := byte(len(comps))
	sof, sos = append(sof, n), append(sos, n)
	for i, c := range comps {
		sof = append(sof, byte(i+1), byte(c.h<<4|c.v), 0)
		sos = append(sos, byte(i+1), 0)
	}
	w.segment(mSOF0, sof...)
	for class, n := range []int{16, 255} {
		dht := make([]byte, 17)
		dht[0], dht[8] = byte(class<<4), byte(n)
		for i := range n {
			dht = append(dht, byte(i))
		}
		w.segment(mDHT, dht...)
	}
	if restart > 0 {
		w.segment(mDRI, byte(restart>>8), byte(restart))
	}
	w.segment(mSOS, append(sos, 0, 63, 0)...)
	mcus := ceilDiv(width, 8*maxH) * ceilDiv(height, 8*maxV)
	if n == 1 {
		mcus, comps[0] = ceilDiv(width, 8)*ceilDiv(height, 8), comp{1, 1}
	}
	for i := range mcus {
		if restart > 0 && i > 0 && i%restart == 0 {
			w.marker(byte(mRST0 + (i/restart-1)&7))
		}
		for _, c := range comps {
			for range c.h * c.v {
				s := r.IntN(6)
				w.put(s, 8)
				w.put(r.IntN(1<<s), s)
				k := 1
				for range r.IntN(2*many + 1) {
					run, s := r.IntN(4), 1+r.IntN(5)
					if k += run + 1; k > 63 {
						break
					}
					w.put(run<<4|s, 8)
					w.put(r.IntN(1<<s), s)
				}
				if k <= 63 {
					w.put(0, 8)
				}
			}
		}
	}
	w.marker(mEOI)
	return w.b
}

// collector is a RowSink that wants the rows of region in order.
type collector struct {
	t      *testing.T
	region codec.Region
	y      int
	pix    []byte
}

func (c *collector) Rows(y, n int, pix []byte) {
	require.Equal(c.t, c.y, y, "the next row")
	require.Positive(c.t, n)
	require.Zero(c.t, len(pix)%(n*c.region.Width))
	c.y += n
	c.pix = append(c.pix, pix...)
}

// pair decodes with one goroutine and with several.
type pair struct {
	serial, several *decoder
	entered         int // decodes in bands
}

func newPair() *pair { return &pair{serial: newDecoder(), several: newDecoder()} }

// require compares Decode and DecodeRows of some regions, and gives the error.
func (p *pair) require(t *testing.T, data []byte, o codec.Options, workers int, msg string, args ...any) error {
	t.Helper()
	msg = fmt.Sprintf(msg, args...)
	if p.several.bands != nil {
		p.several.bands.given = 0
	}
	var want, got codec.Raster
	one := o
	one.Workers = 1
	o.Workers = workers
	wantErr := p.serial.decodeData(&want, data, &one)
	err := p.several.decodeData(&got, data, &o)
	if p.several.bands != nil && p.several.bands.given > 0 {
		p.entered++
		require.Equal(t, p.several.bands.jobs, p.several.bands.given, msg)
	}
	require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err), msg)
	require.Equal(t, fmt.Sprint(want.Damaged), fmt.Sprint(got.Damaged), msg)
	if err == nil {
		requireSame(t, &want, &got, msg)
	}
	w, h := want.Width, want.Height
	if w == 0 {
		return err
	}
	for _, g := range []codec.Region{
		{Width: w, Height: h},
		{Left: w / 3, Top: h / 3, Width: w - w/2, Height: h - h/2},
		{Left: w - 1, Top: h - 1, Width: 1, Height: 1},
		{Top: h / 2, Width: 1, Height: 1},
	} {
		if g.Left+g.Width > w || g.Top+g.Height > h {
			continue
		}
		a := collector{t: t, region: g, y: g.Top}
		b := a
		damaged, err := p.serial.decodeRowsOf(&a, g, data, &one)
		damaged2, err2 := p.several.decodeRowsOf(&b, g, data, &o)
		require.Equal(t, fmt.Sprint(err, damaged), fmt.Sprint(err2, damaged2), "%s: %v", msg, g)
		require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err), "%s: %v", msg, g)
		if err == nil {
			require.Equal(t, g.Top+g.Height, b.y, "%s: %v", msg, g)
			require.True(t, bytes.Equal(a.pix, b.pix), "%s: %v", msg, g)
			n := want.Mode.Size()
			for y := range g.Height {
				whole := want.Pix[((g.Top+y)*w+g.Left)*n:][:g.Width*n]
				require.True(t, bytes.Equal(whole, a.pix[y*g.Width*n:][:g.Width*n]), "%s: %v: row %d", msg, g, y)
			}
		}
	}
	return err
}

// requireSame says where got differs from want.
func requireSame(t *testing.T, want, got *codec.Raster, msg string) {
	t.Helper()
	require.Equal(t, []any{want.Mode, want.Width, want.Height}, []any{got.Mode, got.Width, got.Height}, msg)
	if bytes.Equal(want.Pix, got.Pix) {
		return
	}
	n := want.Mode.Size()
	for i := 0; i < len(want.Pix); i += n {
		x, y := i/n%want.Width, i/n/want.Width
		require.Equal(t, want.Pix[i:i+n], got.Pix[i:i+n], "%s: at (%d, %d)", msg, x, y)
	}
}

func needsThreads(t *testing.T) {
	t.Helper()
	if !parallel {
		t.Skip("WebAssembly has one thread: the caller decodes alone")
	}
}

var parallelFactors = []string{
	"11", "22", "11 11 11", "21 11 11", "12 11 11", "22 11 11", "41 11 11", "14 11 11", "42 11 11", "22 12 21", "11 22 11", "24 12 11", "21 11 11 21", "22 11 11 22",
}

// TestParallelEqualsSerial: several goroutines give the pixels of one.
func TestParallelEqualsSerial(t *testing.T) {
	needsThreads(t)
	p := newPair()
	files := 0
	step := short.Step(t, 5)
	for n, f := range parallelFactors {
		if n%step != 0 {
			continue
		}
		for _, size := range [][2]int{{75, 83}, {64, 256}, {16, 33}, {1, 130}, {130, 16}, {3, 3}} {
			mcus := ceilDiv(size[0], 8*int(f[0]-'0'))
			if len(f) == 2 {
				mcus = ceilDiv(size[0], 8)
			}
			for i, restart := range []int{1, 7, mcus, 2 * mcus, max(1, mcus/2), mcus + 1, 0} {
				files++
				data := randomJPEG(size[0], size[1], f, restart, 6, 0)
				for _, workers := range []int{2, 3, 8} {
					o := codec.Options{}
					o.Scale = codec.Scale((i + workers) % 4 * (workers % 2))
					if workers == 8 {
						o.Color = codec.ToLuma
					}
					p.require(t, data, o, workers, "%s, %v, restart %d, %d workers", f, size, restart, workers)
				}
			}
		}
	}
	require.Greater(t, p.entered, files)
}

// TestParallelGoldens: nor do they change anything about the files of the
// goldens, whatever becomes of damage.
func TestParallelGoldens(t *testing.T) {
	needsThreads(t)
	g := readGoldens(t)
	p := newPair()
	step := short.Step(t, 7)
	for _, m := range []codec.Damage{codec.DamagePillow, codec.DamageStrict, codec.DamageLenient} {
		o := codec.Options{}
		o.Damage = m
		for n, name := range names(g.Images) {
			if n%step == 0 {
				p.require(t, read(t, "images", name), o, 3, "%s", name)
			}
		}
		for n, name := range names(g.Damaged) {
			if n%step == 0 {
				p.require(t, read(t, "damaged", name), o, 3, "%s", name)
			}
		}
		require.Greater(t, p.entered, 20/step)
		if m != codec.DamagePillow {
			require.Zero(t, p.several.bands.given)
		}
	}
}

// TestParallelDamage damages files of some pieces of 64 KiB in many ways: with
// and without bands they are taken or refused with the same words, and give the
// same pixels.
func TestParallelDamage(t *testing.T) {
	needsThreads(t)
	r := rand.New(rand.NewPCG(3, 4))
	var files [][]byte
	for _, restart := range []int{1, 7, 20, 40, 10} {
		files = append(files, randomJPEG(313, 517, "22 11 11", restart, 16, 0))
	}
	files = append(files, randomJPEG(313, 317, "11 11 11", 40, 12, 0), read(t, "images", "jpeg_large_restart.jpg"))
	damage := []func(b []byte) []byte{
		func(b []byte) []byte { return b },
		func(b []byte) []byte { return b[:r.IntN(len(b))] },
		func(b []byte) []byte { return b[:65536-600+r.IntN(1200)] },
		func(b []byte) []byte { return b[:len(b)-r.IntN(700)] },
		func(b []byte) []byte { b[700+r.IntN(len(b)-700)] ^= 1 << r.IntN(8); return b },
		func(b []byte) []byte { // many bits, and no markers among them
			for range 40 {
				if i := 700 + r.IntN(len(b)-702); b[i-1] != 0xFF && b[i] != 0xFF && b[i+1] != 0xFF {
					b[i] ^= 1 << r.IntN(7)
				}
			}
			return b
		},
		func(b []byte) []byte { // a marker or a stuffed zero where there was none
			i := 700 + r.IntN(len(b)-702)
			b[i], b[i+1] = 0xFF, []byte{0, 0xFF, 0xD0, 0xD9, 0x01}[r.IntN(5)]
			return b
		},
		func(b []byte) []byte { i := 700 + r.IntN(len(b)-900); return append(b[:i:i], b[i+r.IntN(200):]...) },
		func(b []byte) []byte { i := 700 + r.IntN(len(b)-900); return append(b[:i:i], b[i-r.IntN(200):]...) },
		func(b []byte) []byte { // a segment without some of its bytes, or with more
			i := 700 + r.IntN(len(b)-900)
			for b[i] == 0xFF || b[i+1] == 0xFF || b[i-1] == 0xFF {
				i++
			}
			n := []int{0, 1, 2, 20, 600}[r.IntN(5)]
			return append(append(b[:i:i], make([]byte, n)...), b[i+1:]...)
		},
		func(b []byte) []byte { // another restart marker
			i := 700 + r.IntN(len(b)/2)
			if j := bytes.Index(b[i:], []byte{0xFF, byte(mRST0 + r.IntN(8))}); j >= 0 {
				b[i+j+1] = byte(mRST0 + r.IntN(8))
			}
			return b
		},
	}
	p := newPair()
	accepted := 0
	n := short.Rounds(t, 20, 2)
	for i := range n * len(damage) {
		data := damage[i%len(damage)](bytes.Clone(files[r.IntN(len(files))]))
		o := codec.Options{}
		o.Scale = codec.Scale(max(0, r.IntN(8)-4))
		if p.require(t, data, o, []int{2, 3, 8}[r.IntN(3)], "damage %d", i) == nil {
			accepted++
		}
	}
	require.Greater(t, p.entered, 4*n)
	require.Greater(t, accepted, 13*n/2)
}

// TestParallelTail moves the end of the scan over the end of a piece of 64 KiB,
// with all that can follow: how much of it the reference sees decides whether
// it refuses the file.
func TestParallelTail(t *testing.T) {
	needsThreads(t)
	p := newPair()
	whole := randomJPEG(313, 120, "22 11 11", 20, 16, 0)
	require.Less(t, len(whole), 65000)
	errors := 0
	step := short.Step(t, 12)
	for at := -24; at <= 24; at += step {
		data := randomJPEG(313, 120, "22 11 11", 20, 16, chunk-len(whole)+at)
		end := len(data) - 2
		for _, tail := range []string{"\xff\xd9", "\xff\xd9junk", "\x00\xff\xd9", "\x12\x34\x56\xff\xd9", "\xff\x02", "\xff\xda\x00", "\xff\xd0", "\xff\xff\xd9", "\xff\xfe\x00\x03x", "\xff"} {
			data = append(data[:end], tail...)
			if p.require(t, data, codec.Options{}, 2, "tail %q at %d", tail, at) != nil {
				errors++
			}
		}
	}
	require.Greater(t, errors, 20/step)
	require.Greater(t, p.entered, 300/step)
}

// TestParallelMemory: a second image of the same kind allocates for its
// goroutines alone, and what the limit does not allow is done without them.
func TestParallelMemory(t *testing.T) {
	needsThreads(t)
	data := randomJPEG(313, 517, "22 11 11", 20, 16, 0)
	d := newDecoder()
	o := codec.Options{Workers: 2}
	var r codec.Raster
	region := codec.Region{Width: 313, Height: 517}
	sink := codec.RowSink(ignore{})
	for _, decode := range []func() error{
		func() error { return d.decodeData(&r, data, &o) },
		func() error { _, err := d.decodeRowsOf(sink, region, data, &o); return err },
	} {
		for range 5 {
			require.NoError(t, decode())
		}
		require.Equal(t, 2, d.bands.used)
		require.Equal(t, d.bands.jobs, d.bands.given)
		require.LessOrEqual(t, testing.AllocsPerRun(short.Rounds(t, 20, 3), func() { _ = decode() }), 2.0)
		d.bands.given = 0
	}
	require.LessOrEqual(t, len(d.bands.bufs), 8)

	d = newDecoder()
	require.NoError(t, d.decodeData(&r, data, &codec.Options{}))
	o.Limits.Bytes = d.need
	require.NoError(t, d.decodeData(&r, data, &o))
	require.Zero(t, d.bands.given, "went beyond the limit")
	o.Limits.Bytes = d.need * 2
	require.NoError(t, d.decodeData(&r, data, &o))
	require.NotZero(t, d.bands.given)
}

type ignore struct{}

func (ignore) Rows(int, int, []byte) {}

type bomb struct{ rows int }

func (b *bomb) Rows(y, n int, _ []byte) {
	if b.rows -= n; b.rows < 0 {
		panic("boom")
	}
}

// TestParallelPanics: a panic of the sink or of a worker is the caller's, and
// no goroutine stays.
func TestParallelPanics(t *testing.T) {
	needsThreads(t)
	data := randomJPEG(313, 517, "22 11 11", 20, 16, 0)
	before := goleak.IgnoreCurrent()
	o := codec.Options{Workers: 3}
	d := newDecoder()
	for _, rows := range []int{0, 100, 500} {
		require.PanicsWithValue(t, "boom", func() {
			_, _ = d.decodeRowsOf(&bomb{rows: rows}, codec.Region{Width: 313, Height: 517}, data, &o)
		})
	}
	var want, got codec.Raster
	require.NoError(t, newDecoder().decodeData(&want, data, &codec.Options{}))
	require.NoError(t, d.decodeData(&got, data, &o))
	requireSame(t, &want, &got, "after a panic")

	d.begin(data, &o)
	require.NoError(t, d.open())
	require.NoError(t, d.checkLimits())
	d.dst, d.out.region = &got, codec.Region{Width: 313, Height: 517}
	d.out.out, d.out.outStride = got.Pix, got.Stride
	d.out.alloc()
	d.out.aim()
	require.NoError(t, d.startScan())
	require.True(t, d.planBands())
	d.bands.starts[3] = len(data) + 9
	require.Panics(t, func() { _ = d.decodeBands() })
	require.NoError(t, goleak.Find(before, goleak.IgnoreAnyFunction("runtime.handleEvent"))) // the second is the runtime's own on js
}

// BenchmarkDecodeWorkers decodes 24 megapixels with a restart marker in each
// row, and without.
func BenchmarkDecodeWorkers(b *testing.B) {
	for i := range 6 {
		workers, o := 1<<(i%3), EncodeOptions{Quality: 90, RestartRows: 1 - i/3}
		data := encodeScene(b, 6000, 4000, 3, o)
		b.Run(fmt.Sprintf("rows=%d/workers=%d", o.RestartRows, workers), func(b *testing.B) {
			d := newDecoder()
			o := codec.Options{}
			o.Workers = workers
			var r codec.Raster
			require.NoError(b, d.decodeData(&r, data, &o))
			b.ReportAllocs()
			b.SetBytes(int64(len(r.Pix)))
			for b.Loop() {
				if err := d.decodeData(&r, data, &o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
