//go:build !small

package jpeg

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/short"
)

// noted decodes regions with an Index and without.
type noted struct {
	plain, with *decoder
	index       *codec.Index
	used        int // regions that were decoded with a note
}

func newNoted(t testing.TB) *noted {
	x, err := codec.NewIndex(64 << 20)
	require.NoError(t, err)
	return &noted{newDecoder(), newDecoder(), x, 0}
}

// require compares some regions of data, of which the first writes the note. It
// returns the error of decoding.
func (n *noted) require(t *testing.T, r *rand.Rand, data []byte, o codec.Options, msg string, args ...any) (err error) {
	t.Helper()
	msg = fmt.Sprintf(msg, args...)
	c, err := n.plain.openData(data, &o)
	if err != nil {
		return err
	}
	w, h := o.Scale.Of(c.Width), o.Scale.Of(c.Height)
	for range 5 {
		g := codec.Region{Left: r.IntN(w), Top: r.IntN(h)}
		g.Width, g.Height = 1+r.IntN(w-g.Left), 1+r.IntN(h-g.Top)
		if r.IntN(3) == 0 {
			g.Left, g.Width = 0, w
		}
		if g.Width == w && g.Height == h && h > 1 { // a whole image makes no note
			g.Height--
		}
		o.Index = nil
		a := collector{t: t, region: g, y: g.Top}
		b := a
		var damaged, damaged2, err2 error
		damaged, err = n.plain.decodeRowsOf(&a, g, data, &o)
		o.Index = n.index
		damaged2, err2 = n.with.decodeRowsOf(&b, g, data, &o)
		require.Equal(t, fmt.Sprint(err, damaged), fmt.Sprint(err2, damaged2), "%s: %v", msg, g)
		if err == nil {
			require.Equal(t, g.Top+g.Height, b.y, "%s: %v", msg, g)
			require.True(t, bytes.Equal(a.pix, b.pix), "%s: %v of %dx%d", msg, g, w, h)
		}
		if note, _ := n.index.Find(data, uint8(o.Damage)); note != nil {
			n.used++
		}
	}
	return err
}

// TestNotes compares regions of images of every layout that are decoded with
// notes with those decoded without.
func TestNotes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := newNoted(t)
	files, step, k := 0, short.Step(t, 3), 0
	for _, size := range [][2]int{{331, 257}, {64, 400}, {700, 40}, {17, 9}, {900, 700}} {
		for _, o := range []EncodeOptions{
			{Quality: 75}, {Quality: 98, Chroma: Chroma444}, {Quality: 30, Chroma: Chroma422},
			{Quality: 5, Chroma: Chroma444, Optimize: true},
		} {
			for _, channels := range []int{1, 3} {
				if k++; k%step != 0 {
					continue
				}
				data := encodeScene(t, size[0], size[1], channels, o)
				for i, d := range []codec.Options{
					{}, {Damage: codec.DamageImread}, {Damage: codec.DamageTorchCodec, Scale: codec.Scale(k % 4)}, {Damage: codec.DamageImdecode, Color: codec.ToLuma},
				} {
					require.NoError(t, n.require(t, r, data, d, "%v, %+v, %d channels, %d", size, o, channels, i))
					files++
				}
			}
		}
	}
	images, used := n.index.Stats()
	require.Equal(t, files, images)
	require.Equal(t, 5*files, n.used) // the first region makes the note
	t.Logf("%d notes, %d bytes", images, used)
}

// TestNotesLayouts: random coefficients, other sampling factors, and scans of
// one component, whose rows of blocks are not those of its factors.
func TestNotesLayouts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	n := newNoted(t)
	for i := range short.Rounds(t, 100, 20) {
		width, height := 1+r.IntN(300), 1+r.IntN(300)
		if i%50 == 0 {
			width, height = 1500, 400 // several chunks of 64 KiB
		}
		require.NoError(t, n.require(t, r, randomFile(r, width, height, i%2 == 0, 0, 1+r.IntN(10)), codec.Options{}, "file %d", i))
	}
	for _, f := range []string{"22 11 11", "11 11 11 11", "11", "22", "12 11 11", "21 11 11", "41 11 11"} {
		require.NoError(t, n.require(t, r, randomJPEG(313, 217, f, 0, 6, 0), codec.Options{}, "%s", f))
		// Files with restart markers have no notes.
		require.NoError(t, n.require(t, r, randomJPEG(313, 217, f, 5, 6, 0), codec.Options{}, "%s", f))
	}
	require.Greater(t, n.used, short.Rounds(t, 400, 80))
}

// TestNotesDamage: damaged files are accepted or refused with notes as without.
func TestNotesDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	n := newNoted(t)
	file := encodeScene(t, 313, 217, 3, EncodeOptions{Quality: 85})
	accepted := 0
	rounds := short.Rounds(t, 80, 20)
	for i := range rounds {
		data := bytes.Clone(file)
		for range 1 << r.IntN(4) {
			at := 700 + r.IntN(len(data)-702)
			switch r.IntN(5) {
			case 0:
				data[at], data[at+1] = 0xFF, []byte{0, 0xFF, 0xD0, 0xD9, 0x01}[r.IntN(5)]
			case 1:
				data = append(data[:at:at], data[max(600, at-r.IntN(2000)):]...)
			default:
				data[at] ^= 1 << r.IntN(8)
			}
		}
		if n.require(t, r, data, codec.Options{Damage: codec.Damage(r.IntN(6))}, "damage %d", i) == nil {
			accepted++
		}
	}
	require.Greater(t, accepted, rounds/5)
	require.Greater(t, n.used, rounds/5)
}

// TestNotesForeign: a note of other data, or one that is no note, causes an
// error or other pixels, and never a panic.
func TestNotesForeign(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	data := encodeScene(t, 313, 217, 3, EncodeOptions{Quality: 85})
	other := encodeScene(t, 313, 217, 3, EncodeOptions{Quality: 60})
	d, sink, g := newDecoder(), ignore{}, codec.Region{Left: 50, Top: 60, Width: 100, Height: 90}
	note := func(data []byte) []byte {
		x, err := codec.NewIndex(1 << 20)
		require.NoError(t, err)
		_, err = d.decodeRowsOf(sink, g, data, &codec.Options{Index: x})
		require.NoError(t, err)
		note, _ := x.Find(data, 0)
		require.NotNil(t, note)
		return note
	}
	good := note(data)
	require.Less(t, len(good), len(data)/40)
	for i := range short.Rounds(t, 300, 50) {
		bad := bytes.Clone(note(other))
		if i > 0 {
			bad = bytes.Clone(good)
			for range 1 + r.IntN(3) {
				bad[r.IntN(len(bad))] = byte(r.IntN(256))
			}
			bad = bad[:len(bad)-r.IntN(2)]
		}
		x, err := codec.NewIndex(1 << 20)
		require.NoError(t, err)
		x.Keep(data, 0, bad)
		_, _ = d.decodeRowsOf(sink, g, data, &codec.Options{Index: x})
	}
}

// FuzzNotes decodes a region with any note.
func FuzzNotes(f *testing.F) {
	data := encodeScene(f, 64, 48, 3, EncodeOptions{Quality: 85})
	g := codec.Region{Left: 9, Top: 20, Width: 30, Height: 21}
	x, err := codec.NewIndex(1 << 20)
	require.NoError(f, err)
	_, err = newDecoder().decodeRowsOf(ignore{}, g, data, &codec.Options{Index: x})
	require.NoError(f, err)
	note, _ := x.Find(data, 0)
	require.NotNil(f, note)
	f.Add(note)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, note []byte) {
		x, err := codec.NewIndex(1 << 20)
		require.NoError(t, err)
		x.Keep(data, 0, note)
		_, _ = newDecoder().decodeRowsOf(ignore{}, g, data, &codec.Options{Index: x})
	})
}

// BenchmarkRegion decodes the middle quarter of a scene, without notes and with
// them.
func BenchmarkRegion(b *testing.B) {
	data := encodeScene(b, 500, 375, 3, EncodeOptions{Quality: 90})
	g := codec.Region{Left: 125, Top: 94, Width: 250, Height: 187}
	x, err := codec.NewIndex(1 << 20)
	require.NoError(b, err)
	for _, c := range []struct {
		name  string
		index *codec.Index
	}{{"plain", nil}, {"noted", x}} {
		b.Run(c.name, func(b *testing.B) {
			d, o := newDecoder(), codec.Options{Index: c.index}
			for b.Loop() {
				if _, err := d.decodeRowsOf(ignore{}, g, data, &o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
