package animationframes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec/animation"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// golden is an animation and its frames in Pillow, by
// testdata/gen/codecs/animations.py.
type golden struct {
	Format, Error string
	File          []byte
	Size          [2]int
	Frames        []string
	Durations     []*float64 // milliseconds
}

// folder writes the readable files of the goldens to a folder, and others that
// are left out.
func folder(t testing.TB) (string, []golden) {
	b, err := os.ReadFile("../../codec/animation/testdata/animations.json")
	require.NoError(t, err)
	var all, l []golden
	require.NoError(t, json.Unmarshal(b, &all))
	dir := t.TempDir()
	for i, g := range all {
		if _, err := New(write(t, t.TempDir(), "x", g.File)).Open(t.Context(), store.Local); err != nil {
			continue // refused: codec/animation tests which
		}
		name := fmt.Sprintf("%03d.%s", i, g.Format)
		if i%3 == 0 {
			name = fmt.Sprintf("%03d.%s", i, map[string]string{"png": "APNG", "gif": "GIF", "webp": "webp"}[g.Format])
		}
		write(t, dir, name, g.File)
		l = append(l, g)
	}
	write(t, dir, "notes.txt", []byte("no image"))
	require.Greater(t, len(l), 100)
	return dir, l
}

func write(t testing.TB, dir, name string, b []byte) string {
	p := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(p, b, 0o600))
	return p
}

func open(t testing.TB, names ...string) *rows {
	d, err := New(names...).Open(t.Context(), store.Local)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d.(*rows)
}

func column[T tensor.Elem](s *dataset.Sample, name string) T {
	return tensor.View[T](&s.Column(name).Tensor)[0]
}

// TestReference compares all frames with Pillow's, in order, backwards, and by
// several goroutines in any order.
func TestReference(t *testing.T) {
	dir, l := folder(t)
	r := open(t, dir)
	var want []func(s *dataset.Sample)
	for k, g := range l {
		for i, digest := range g.Frames {
			want = append(want, func(s *dataset.Sample) {
				sum := sha256.Sum256(s.Column("image").Data)
				require.Equal(t, digest, hex.EncodeToString(sum[:8]), "%s", s.Key)
				require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, g.Size[1], g.Size[0], 3), s.Column("image").Desc)
				require.Equal(t, [2]int32{int32(k), int32(i)}, [2]int32{column[int32](s, "file"), column[int32](s, "frame")})
				ms := 0.0
				if g.Durations[i] != nil {
					ms = *g.Durations[i]
				}
				require.InDelta(t, ms/1000, column[float64](s, "duration"), 1e-12)
			})
		}
	}
	require.EqualValues(t, len(want), r.Len())
	require.Len(t, r.Shards(), len(l))
	require.True(t, r.Ordered())
	read := func(s *dataset.Sample, i int) {
		require.NoError(t, r.Read(t.Context(), int64(i), s))
		want[i](s)
	}
	s := dataset.NewSample(r.Columns())
	for i := range want {
		read(s, i)
	}
	for i := len(want) - 1; i >= 0; i -= 3 {
		read(s, i)
	}
	require.LessOrEqual(t, len(r.open), maxOpen)
	var wait sync.WaitGroup
	for k := range 6 {
		wait.Go(func() {
			rng := rand.New(rand.NewSource(int64(k)))
			s := dataset.NewSample(r.Columns())
			for range 200 {
				read(s, rng.Intn(len(want)))
			}
		})
	}
	wait.Wait()
	t.Logf("%d files, %d frames are equal", len(l), len(want))
}

func TestSource(t *testing.T) {
	dir, l := folder(t)
	for _, g := range l[len(l)-3:] {
		sourcetest.Run(t, New(write(t, t.TempDir(), "a."+g.Format, g.File), "../../testdata/images/gif_8bit.gif"))
	}
	sourcetest.Spec(t, New(dir))
}

// TestNeighbours: workers that read frames of one file in nearly their order
// decode each frame once.
func TestNeighbours(t *testing.T) {
	_, l := folder(t)
	most := l[0]
	for _, g := range l {
		if len(g.Frames) > len(most.Frames) {
			most = g
		}
	}
	a, err := animation.Open(most.File, one)
	require.NoError(t, err)
	p := newPlayer(a)
	require.Len(t, p.recent, len(most.Frames))
	p.recent = p.recent[:3]
	for _, n := range []int{1, 0, 2, 3, 1, 0, 4, 3, 2, 0} {
		if n >= len(most.Frames) {
			continue
		}
		before := p.first
		again := n < before
		rgb, err := p.frame(n)
		require.NoError(t, err)
		sum := sha256.Sum256(rgb)
		require.Equal(t, most.Frames[n], hex.EncodeToString(sum[:8]), "frame %d", n)
		require.Equal(t, again, p.next <= n+1 && p.first < before, "frame %d", n)
	}
}

func TestErrors(t *testing.T) {
	require.ErrorIs(t, New().Validate(), dataset.ErrParam)
	dir, other := t.TempDir(), t.TempDir()
	write(t, other, "notes.txt", []byte("no image"))
	for text, name := range map[string]string{
		"no file with the extension .gif": other,
		"none":                            dir + "/none",
		"unknown format":                  write(t, dir, "a.gif", []byte("no image")),
		"the file ends":                   write(t, dir, "b.gif", []byte("GIF89a\x01")),
	} {
		_, err := New("../../testdata/images/gif_8bit.gif", name).Open(t.Context(), store.Local)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, "animationframes: ")
	}
	_, l := folder(t)
	name := write(t, dir, "c.gif", l[0].File)
	r := open(t, name)
	s := dataset.NewSample(r.Columns())
	require.ErrorIs(t, r.Read(t.Context(), r.Len(), s), dataset.ErrParam)
	b, err := os.ReadFile("../../testdata/images/gif_8bit.gif")
	require.NoError(t, err)
	write(t, dir, "c.gif", b)
	require.ErrorContains(t, r.Read(t.Context(), 0, s), "has 1 frames, and had")
}
