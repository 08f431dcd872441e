package mobile

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// thumbnail's output has the name that a Pipe would give its own column.
var thumbnail = resized(8, 6, "index")

// resized returns a graph that resizes to a height and width.
func resized(height, width int, output string) string {
	return fmt.Sprintf(strings.NewReplacer(`}}], "outputs": ["image"]`, `}},
		{"op": "resize", "version": 1, "in": ["image"], "out": [%q], "params": {"fit": "exact", "height": %d, "width": %d, "edge": 0, "max_edge": 0,
		"multiple": 0, "keep_aspect": false, "size_rule": "truncate", "interpolation": "bilinear", "backend": "pillow", "no_antialias": false}}],
		"outputs": [%[1]q]`).Replace(decodeRGB), output, height, width)
}

// pictures are the files of the tests.
func pictures(t testing.TB, n int) []string {
	t.Helper()
	l, err := filepath.Glob("../testdata/images/png_*.png")
	require.NoError(t, err)
	require.Greater(t, len(l), n)
	return l[:n]
}

func newPipe(t testing.TB, graph string, files []string, set func(c *PipeConfig)) (*Preprocessor, *Pipe) {
	t.Helper()
	p, err := OpenGraph([]byte(graph))
	require.NoError(t, err)
	c := NewPipeConfig()
	for i, f := range files {
		if i%2 == 0 {
			require.NoError(t, c.AddFile(f))
			continue
		}
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NoError(t, c.AddImage(b))
	}
	if set != nil {
		set(c)
	}
	q, err := p.NewPipe(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, q.Close()); require.NoError(t, p.Close()) })
	return p, q
}

// batch is a Result as a test compares it.
type batch struct {
	images []int
	dims   []int
	layout string
	data   []byte
}

func of(r *Result) *batch {
	b := &batch{layout: r.Layout(0), data: bytes.Clone(r.Data(0))}
	for k := range r.Images() {
		b.images = append(b.images, r.Image(k))
	}
	for j := range r.Rank(0) {
		b.dims = append(b.dims, r.Dim(0, j))
	}
	return b
}

// rest returns the rest of an epoch.
func rest(t testing.TB, q *Pipe) (l []*batch) {
	t.Helper()
	for {
		r, err := q.Next()
		require.NoError(t, err)
		if r == nil {
			return l
		}
		l = append(l, of(r))
	}
}

// TestPipe compares every batch with the runs of its images.
func TestPipe(t *testing.T) {
	files := pictures(t, 11)
	for _, c := range []struct {
		size          int
		shuffle, drop bool
		sizes         []int // of the batches; 0 for no batch
	}{
		{0, false, false, slices.Repeat([]int{0}, 11)},
		{1, true, true, slices.Repeat([]int{0}, 11)},
		{4, false, false, []int{4, 4, 3}},
		{4, true, false, []int{4, 4, 3}},
		{4, true, true, []int{4, 4}},
		{11, true, true, []int{11}},
		{math.MaxInt / 2, false, false, []int{11}},
		{math.MaxInt, true, false, []int{11}},
	} {
		t.Run(fmt.Sprintf("%d %v %v", c.size, c.shuffle, c.drop), func(t *testing.T) {
			p, q := newPipe(t, thumbnail, files, func(o *PipeConfig) { o.BatchSize, o.Shuffle, o.DropLast, o.Seed = c.size, c.shuffle, c.drop, -3 })
			require.EqualValues(t, len(c.sizes), q.Len())
			orders := map[string]bool{}
			for epoch := range 4 {
				require.EqualValues(t, epoch, q.Epoch())
				l := rest(t, q)
				require.Len(t, l, len(c.sizes))
				var order []int
				for i, b := range l {
					var want []byte
					for _, n := range b.images {
						image, err := os.ReadFile(files[n])
						require.NoError(t, err)
						r, err := p.RunJPEG(image)
						require.NoError(t, err)
						want = append(want, r.Data(0)...)
					}
					require.Equal(t, want, b.data)
					order = append(order, b.images...)
					if c.sizes[i] == 0 {
						require.Len(t, b.images, 1)
						require.Equal(t, []int{8, 6, 3}, b.dims)
						require.Equal(t, "HWC", b.layout)
						continue
					}
					require.Equal(t, []int{c.sizes[i], 8, 6, 3}, b.dims)
					require.Empty(t, b.layout)
				}
				orders[fmt.Sprint(order)] = true
				if !c.shuffle {
					require.IsIncreasing(t, order)
				}
				slices.Sort(order)
				require.Equal(t, order, slices.Compact(slices.Clone(order)), "an image comes once")
				r, err := q.Next()
				require.NoError(t, err)
				require.Nil(t, r, "the epoch has ended")
				require.NoError(t, q.NextEpoch())
			}
			require.Equal(t, c.shuffle, len(orders) > 1, "%v", orders)
			require.Zero(t, q.Skipped())
		})
	}
}

// TestPipeSeed checks that the seed alone decides about the order.
func TestPipeSeed(t *testing.T) {
	order := func(seed int64) string {
		_, q := newPipe(t, thumbnail, pictures(t, 12), func(c *PipeConfig) { c.Shuffle, c.BatchSize, c.Seed = true, 12, seed })
		return fmt.Sprint(rest(t, q)[0].images)
	}
	require.Equal(t, order(7), order(7))
	require.NotEqual(t, order(7), order(8))
}

// TestPipeState resumes at every place of two epochs, in the same Pipe and in
// one of another Preprocessor.
func TestPipeState(t *testing.T) {
	files := pictures(t, 10)
	set := func(c *PipeConfig) { c.BatchSize, c.Shuffle, c.Seed = 3, true, 5 }
	_, q := newPipe(t, thumbnail, files, set)
	_, other := newPipe(t, thumbnail, files, set)
	var states [][]byte
	var all []*batch
	state := func() {
		s, err := q.State()
		require.NoError(t, err)
		states = append(states, s)
	}
	for epoch := range 2 {
		for range 4 {
			state()
			r, err := q.Next()
			require.NoError(t, err)
			all = append(all, of(r))
		}
		r, err := q.Next()
		require.NoError(t, err)
		require.Nil(t, r)
		s, err := q.State()
		require.NoError(t, err)
		require.NoError(t, q.NextEpoch())
		next, err := q.State()
		require.NoError(t, err)
		require.Equal(t, next, s, "the end of epoch %d is the start of the next", epoch)
	}
	for i, s := range states {
		for _, q := range []*Pipe{q, other} {
			require.NoError(t, q.Restore(s))
			require.EqualValues(t, i/4, q.Epoch())
			l := rest(t, q)
			require.Equal(t, all[i:i/4*4+4], l, "state %d", i)
			require.NoError(t, q.NextEpoch())
			if i < 4 {
				require.Equal(t, all[4:], rest(t, q))
			}
		}
	}
}

// TestPipeOtherState refuses the states of other pipes, and every damage. The
// Pipe stays where it is.
func TestPipeOtherState(t *testing.T) {
	files := pictures(t, 10)
	_, q := newPipe(t, thumbnail, files, func(c *PipeConfig) { c.BatchSize = 3 })
	_, err := q.Next()
	require.NoError(t, err)
	own, err := q.State()
	require.NoError(t, err)
	swapped := slices.Clone(files)
	swapped[1], swapped[3] = swapped[3], swapped[1] // in memory: the content counts
	moved := slices.Clone(files)
	moved[0], moved[2] = moved[2], moved[0] // files: the path counts
	for name, f := range map[string]func() *Pipe{
		"another order of images": func() *Pipe {
			_, o := newPipe(t, thumbnail, swapped, func(c *PipeConfig) { c.BatchSize = 3 })
			return o
		},
		"another order of files": func() *Pipe {
			_, o := newPipe(t, thumbnail, moved, func(c *PipeConfig) { c.BatchSize = 3 })
			return o
		},
		"fewer images": func() *Pipe {
			_, o := newPipe(t, thumbnail, files[:9], func(c *PipeConfig) { c.BatchSize = 3 })
			return o
		},
		"another size": func() *Pipe {
			_, o := newPipe(t, thumbnail, files, func(c *PipeConfig) { c.BatchSize = 2 })
			return o
		},
		"another seed": func() *Pipe {
			_, o := newPipe(t, thumbnail, files, func(c *PipeConfig) { c.BatchSize, c.Seed = 3, 1 })
			return o
		},
		"shuffled": func() *Pipe {
			_, o := newPipe(t, thumbnail, files, func(c *PipeConfig) { c.BatchSize, c.Shuffle = 3, true })
			return o
		},
		"another graph": func() *Pipe {
			_, o := newPipe(t, decodeRGB, files, nil)
			return o
		},
	} {
		o := f()
		s, err := o.State()
		require.NoError(t, err)
		require.Equal(t, "state", Code(q.Restore(s)), name)
		require.Equal(t, "state", Code(o.Restore(own)), name)
	}
	for n := range own {
		require.Equal(t, "state", Code(q.Restore(own[:n])), "%d bytes", n)
		for bit := range 8 {
			b := bytes.Clone(own)
			b[n] ^= 1 << bit
			require.Equal(t, "state", Code(q.Restore(b)), "byte %d", n)
		}
	}
	now, err := q.State()
	require.NoError(t, err)
	require.Equal(t, own, now)
	require.Len(t, rest(t, q), 3)
}

// TestPipeBad checks images that cannot be read or decoded: an error, or left
// out, in any batch.
func TestPipeBad(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.jpg")
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o600))
	add := func(c *PipeConfig) {
		require.NoError(t, c.AddFile(text)) // 5
		require.NoError(t, c.AddImage(nil))
		require.NoError(t, c.AddFile(filepath.Join(dir, "none.jpg")))
		require.NoError(t, c.AddFile(dir))
		b, err := os.ReadFile(pictures(t, 1)[0])
		require.NoError(t, err)
		require.NoError(t, c.AddImage(b)) // 9
	}
	_, q := newPipe(t, thumbnail, pictures(t, 5), add)
	for range 5 {
		r, err := q.Next()
		require.NoError(t, err)
		require.NotNil(t, r)
	}
	for range 2 {
		_, err := q.Next()
		require.Equal(t, "format", Code(err))
		require.ErrorContains(t, err, "text.jpg")
	}
	require.NoError(t, q.NextEpoch())
	r, err := q.Next()
	require.NoError(t, err)
	require.NotNil(t, r)

	_, q = newPipe(t, thumbnail, pictures(t, 5), func(c *PipeConfig) { add(c); c.SkipBad, c.BatchSize = true, 4 })
	require.EqualValues(t, -1, q.Len())
	l := rest(t, q)
	require.Equal(t, [][]int{{0, 1, 2, 3}, {4, 9}}, [][]int{l[0].images, l[1].images})
	require.EqualValues(t, 4, q.Skipped())

	for name, want := range map[string]string{text: "format", filepath.Join(dir, "none.jpg"): "io", dir: "io"} {
		for _, skip := range []bool{false, true} {
			_, q := newPipe(t, thumbnail, nil, func(c *PipeConfig) { c.SkipBad = skip; require.NoError(t, c.AddFile(name)) })
			_, err := q.Next()
			require.Equal(t, want, Code(err), "%s: %v", name, err)
		}
	}
}

// TestPipeInto fills a Result's buffers, and reuses its memory without them.
func TestPipeInto(t *testing.T) {
	files := pictures(t, 10)
	_, q := newPipe(t, thumbnail, files, func(c *PipeConfig) { c.BatchSize = 4 })
	want := rest(t, q)
	for _, buffered := range []bool{false, true} {
		require.NoError(t, q.NextEpoch())
		out, memory := NewResult(), make([]byte, 4*8*6*3+5)
		if buffered {
			require.NoError(t, out.SetBuffer(0, &Buffer{memory}))
		}
		for i := range want {
			more, err := q.NextInto(out)
			require.NoError(t, err)
			require.True(t, more)
			require.Equal(t, want[i], of(out))
			require.Equal(t, buffered, &memory[0] == &out.Data(0)[0])
		}
		more, err := q.NextInto(out)
		require.NoError(t, err)
		require.False(t, more)
		require.Zero(t, out.Images()+out.Size(0))
	}
	require.NoError(t, q.NextEpoch())
	small := NewResult()
	require.NoError(t, small.SetBuffer(0, &Buffer{make([]byte, 4*8*6*3-1)}))
	_, err := q.NextInto(small)
	require.Equal(t, "input", Code(err))
	require.ErrorContains(t, err, "a batch of 4 has 576 bytes, its buffer has 575")
	require.Equal(t, want, rest(t, q), "the batch is not lost")
	further := NewResult()
	require.NoError(t, further.SetBuffer(1, &Buffer{make([]byte, 1)}))
	_, err = q.NextInto(further)
	require.Equal(t, "input", Code(err))

	_, q = newPipe(t, decodeRGB, files[:1], nil) // the shape depends on the image
	whole := rest(t, q)[0]
	require.NoError(t, q.NextEpoch())
	require.NoError(t, small.SetBuffer(0, &Buffer{make([]byte, len(whole.data)-1)}))
	_, err = q.NextInto(small)
	require.Equal(t, "input", Code(err))
	require.ErrorContains(t, err, fmt.Sprintf("output 0 has %d bytes, its buffer has %d", len(whole.data), len(whole.data)-1))
}

// TestPipeConfig refuses invalid configurations, and keeps nothing of one.
func TestPipeConfig(t *testing.T) {
	p, err := OpenGraph([]byte(thumbnail))
	require.NoError(t, err)
	for _, c := range []*PipeConfig{nil, {}, {BatchSize: -1, items: []item{{path: "x"}}}, {BatchSize: 2, DropLast: true, items: []item{{path: "x"}}}} {
		_, err := p.NewPipe(c)
		require.Equal(t, "input", Code(err), "%+v", c)
	}
	// 12,000,000,000 bytes are more than a ByteBuffer holds.
	big, err := OpenGraph([]byte(resized(2000, 2000, "out")))
	require.NoError(t, err)
	_, err = big.NewPipe(&PipeConfig{BatchSize: 1000, items: make([]item, 1000)})
	require.Equal(t, "limit", Code(err), "%v", err)

	c := NewPipeConfig()
	require.NoError(t, c.AddFile(pictures(t, 1)[0]))
	q, err := p.NewPipe(c)
	require.NoError(t, err)
	require.NoError(t, c.AddFile("later"))
	c.BatchSize = 7
	require.Len(t, rest(t, q), 1)
	require.NoError(t, q.Close())
}

// TestPipeClosed uses a Pipe after its own Close and its Preprocessor's.
func TestPipeClosed(t *testing.T) {
	for _, own := range []bool{false, true} {
		p, q := newPipe(t, thumbnail, pictures(t, 4), nil)
		s, err := q.State()
		require.NoError(t, err)
		if own {
			require.NoError(t, q.Close())
		} else {
			require.NoError(t, p.Close())
		}
		_, err = q.Next()
		require.Equal(t, "closed", Code(err))
		_, err = q.NextInto(NewResult())
		require.Equal(t, "closed", Code(err))
		_, err = q.State()
		require.Equal(t, "closed", Code(err))
		require.Equal(t, "closed", Code(q.NextEpoch()))
		require.Equal(t, "closed", Code(q.Restore(s)))
		require.Zero(t, q.Len()+q.Epoch()+q.Skipped())
		require.NoError(t, q.Close())
		require.NoError(t, q.Close())
	}
}

// TestPipeThreads takes the images of an epoch on several threads, one of which
// closes the Pipe in the middle of the last.
func TestPipeThreads(t *testing.T) {
	_, q := newPipe(t, thumbnail, pictures(t, 40), nil)
	for last := range 2 {
		var mu sync.Mutex
		var seen []int
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					r, err := q.Next()
					if last == 1 && err != nil {
						if Code(err) != "closed" {
							t.Errorf("%v", err)
						}
						return
					}
					if err != nil {
						t.Errorf("%v", err)
					}
					if r == nil {
						return
					}
					mu.Lock()
					seen = append(seen, r.Image(0))
					stop := last == 1 && len(seen) == 20
					mu.Unlock()
					if stop && q.Close() != nil {
						t.Errorf("Close failed")
					}
				}
			})
		}
		wg.Wait()
		slices.Sort(seen)
		require.Equal(t, seen, slices.Compact(slices.Clone(seen)))
		if last == 0 {
			require.Len(t, seen, 40)
			require.NoError(t, q.NextEpoch())
		}
	}
}
