package dataset_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

// photos is a source of encoded images and their numbers.
type photos struct {
	N     int64
	Bad   int64 // every Bad-th image is damaged; 0: none
	reads *reads
	own   bool // samples have memory of their own, as those of files
}

// reads counts the rows that were read.
type reads struct{ n chan int64 }

func (n *photos) Validate() error { return nil }

var photoFiles = []string{"jpeg_base_420.jpg", "png_p2.png", "jpeg_base_444.jpg", "jpeg_arith_prog.jpg", "jpeg_gray.jpg", "jpeg_base_411.jpg"}

func (n *photos) Open(context.Context, store.Opener) (dataset.Data, error) {
	d := &photoRows{photos: n}
	for _, f := range photoFiles {
		b, err := os.ReadFile(filepath.Join("..", "testdata", "images", f))
		if err != nil {
			return nil, err
		}
		d.files = append(d.files, b)
	}
	return d, nil
}

type photoRows struct {
	*photos
	files [][]byte
}

func (d *photoRows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: tensor.Encoded()}, {Name: "label", Desc: tensor.Desc{DType: tensor.Int64}}}
}
func (d *photoRows) Len() int64   { return d.N }
func (d *photoRows) Close() error { return nil }

func (d *photoRows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	s.Key = fmt.Sprint("photo ", i)
	if d.reads != nil {
		d.reads.n <- i
	}
	file := d.files[i%int64(len(d.files))]
	if d.Bad > 0 && i%d.Bad == d.Bad-1 {
		file = file[:len(file)/20]
	}
	if s.Column("image").ShareBytes(file); d.own {
		copy(s.Column("image").Bytes(len(file)), file)
	}
	if err := s.Column("label").Reset(tensor.Desc{DType: tensor.Int64}); err != nil {
		return err
	}
	tensor.View[int64](&s.Column("label").Tensor)[0] = i
	return nil
}

// cropping draws a box of an image, of at least 4 pixels a side.
type cropping struct{ Size int }

func (o *cropping) Info() t.Info {
	return t.Info{Name: "test/cropping", Version: 1, New: func() t.Op { return &cropping{Size: 8} }}
}
func (o *cropping) Validate() error { return nil }
func (o *cropping) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0].WithSize(o.Size, o.Size)
	return nil
}
func (o *cropping) Apply(*t.Context, []*tensor.Tensor, []*tensor.Tensor) error { return t.ErrNotDrawn }
func (o *cropping) Draw(d *t.Draw) error {
	h, w := d.In[0].Height(), d.In[0].Width()
	if h < 4 || w < 4 {
		return fmt.Errorf("%w: image of %d x %d", t.ErrInput, h, w)
	}
	op := t.NewOp[t.ResizedCrop](d)
	bh, bw := 4+d.IntN(h-3), 4+d.IntN(w-3)
	*op = *t.NewResizedCrop(d.IntN(h-bh+1), d.IntN(w-bw+1), bh, bw, o.Size, o.Size)
	return d.Emit(op)
}

func init() {
	dataset.Register(dataset.Info{Name: "test/photos", Version: 1, New: func() dataset.Node { return &photos{} }})
	dataset.RegisterFunc("test/bright", dataset.Predicate(func(c *dataset.Call, src []*tensor.Tensor) (bool, error) {
		sum := 0
		for _, b := range src[0].Data {
			sum += int(b)
		}
		return (sum+c.IntN(3))%3 > 0, nil
	}))
}

// onPixels returns a graph of ops on a decoded image.
func onPixels(ops ...t.Op) *datagraph.Graph {
	g := datagraph.New(ops...)
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)
	return g
}

// imageDefinition returns a random definition with image columns. Its caches
// are files in dir.
func imageDefinition(r *rand.Rand, bad bool, dir string) *dataset.Dataset {
	source := &photos{N: int64(r.IntN(16)) + 1}
	if bad {
		source.Bad = int64(r.IntN(5)) + 2
	}
	d := dataset.From(source)
	image, label := "image", "label"
	stage, indexed, stable, sized := 0, true, true, false
	other := false
	for range r.IntN(8) + 2 {
		switch r.IntN(16) {
		case 0, 1, 2, 3, 4, 5:
			name := []string{"image", "pixels", "picture"}[r.IntN(3)]
			var g *datagraph.Graph
			switch {
			case stage == 0:
				g = [...]func() *datagraph.Graph{
					func() *datagraph.Graph { return datagraph.New(t.NewDecode()) },
					func() *datagraph.Graph { return datagraph.New(t.NewDecode(), &cropping{Size: 9 + r.IntN(3)}) },
					func() *datagraph.Graph { return datagraph.New(t.NewDecode(), t.NewResizedCrop(1, 2, 9, 8, 12, 13)) },
					func() *datagraph.Graph {
						return datagraph.New(t.NewDecode(), t.NewHorizontalFlip(), t.NewRandomHorizontalFlip(), t.NewVerticalFlip())
					},
					func() *datagraph.Graph { return datagraph.New(t.NewRandomCropDecodeResize(12, 11)) },
				}[r.IntN(5)]()
				stage = 1
			case stage == 1:
				sized = false
				g = [...]func() *datagraph.Graph{
					func() *datagraph.Graph { sized = true; return onPixels(&cropping{Size: 10}) },
					func() *datagraph.Graph { return onPixels(t.NewRandomHorizontalFlip()) },
					func() *datagraph.Graph {
						return onPixels(t.NewVerticalFlip(), t.NewRandomHorizontalFlip(), t.NewHorizontalFlip())
					},
					func() *datagraph.Graph { sized = true; return onPixels(t.NewResizedCrop(0, 1, 8, 8, 10, 10)) },
					func() *datagraph.Graph { stage = 2; return onPixels(t.NewRandomHorizontalFlip(), t.NewToTensor()) },
					func() *datagraph.Graph {
						stage, sized = 2, true
						return onPixels(t.NewResizedCrop(0, 1, 8, 8, 11, 11), t.NewToTensor())
					},
					func() *datagraph.Graph { sized = true; return onPixels(t.NewRandomResizedCrop(10, 10)) },
					func() *datagraph.Graph { return onPixels(t.NewRandomErasing(), t.NewRandomGrayscale()) },
				}[r.IntN(8)]()
			default:
				continue
			}
			stable = stable && !g.Random()
			out := []string{name}
			if !other && r.IntN(5) == 0 {
				// The original column stays beside the new one.
				g.Inputs[0].Name = "before"
				g.Steps[0].In = []string{"before"}
				g.SideOutputs = append(g.SideOutputs, "before")
				out, other = append(out, "before"), true
			}
			d = d.MapColumns(g, []string{image}, out)
			image = name
		case 6:
			if r.IntN(2) == 0 {
				d, other = d.Project(label, image), false
			} else {
				d = d.Rename([]string{label, image}, []string{"l" + label, "i" + image})
				label, image = "l"+label, "i"+image
			}
		case 7:
			d, indexed = dataset.Of(&dataset.Filter{Name: "test/some", In: []string{label}}, d), false
		case 8:
			d, indexed = dataset.Of(&dataset.Filter{Name: "test/bright", In: []string{image}}, d), false
		case 9:
			if indexed {
				d, stable = d.Shuffle(), false
			} else {
				d = d.ShuffleBuffer(r.IntN(5) + 1)
			}
		case 10:
			d = d.Take(int64(r.IntN(20) + 3))
		case 11:
			d, stable = d.Repeat(2), false
		case 12:
			if indexed {
				d = d.Sample(&dataset.SequentialSampler{})
			} else {
				d = d.Skip(1)
			}
		case 13:
			d = dataset.Of(&dataset.Func{Name: "test/noise", In: []string{label}, Out: []dataset.OutColumn{{Name: label, Desc: tensor.Desc{DType: tensor.Int64}}}}, d)
			stable = false
		case 14:
			if r.IntN(2) == 0 {
				d = d.Concat(d)
			} else if indexed && stable {
				d = d.Cache(1 << uint(r.IntN(24)))
				if r.IntN(2) == 0 {
					d.Node = &dataset.FileCache{File: filepath.Join(dir, fmt.Sprint(r.Uint64())), Bytes: 1 << uint(9+r.IntN(14))}
				}
			}
		case 15:
			d = dataset.NewZip(d.Rename([]string{label}, []string{"n"}), d.Project(label)).Project(image, "n").Rename([]string{"n"}, []string{label})
			other = false
			// Buffers are not allowed above a Zip of inputs without an index.
			if !indexed {
				return d
			}
		}
	}
	if stage == 2 && sized && r.IntN(2) == 0 {
		return d.Project(image, label).Batch(r.IntN(4) + 1)
	}
	return d
}

// look returns all samples of the rest of an epoch and its error, as text.
func look(test *testing.T, p runner, most int) []string {
	test.Helper()
	l := []string{}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for len(l) < most {
		s, err := p.Next(ctx)
		if err == io.EOF {
			return l
		}
		if err != nil {
			return append(l, err.Error())
		}
		text := fmt.Sprintf("%s %d %d", s.Key, s.Epoch, s.Ordinal)
		for i := range s.Values {
			v := &s.Values[i].Tensor
			if v.DType != tensor.Bytes {
				v = v.Clone()
			}
			text += fmt.Sprintf(" %v %x", v.Desc, sha256.Sum256(v.Data))
		}
		l = append(l, text)
	}
	return l
}

type variant struct {
	off   []dataset.Pass
	bytes int64
}

func variants() (l []variant) {
	all := dataset.Passes()
	for _, bytes := range []int64{0, 20_000, 1 << 30} {
		l = append(l, variant{nil, bytes})
	}
	for i := range all {
		l = append(l, variant{all[i : i+1], 1 << 30}, variant{slices.Concat(all[:i], all[i+1:]), 1 << 30})
	}
	return l
}

// TestPassesChangeNothing compares runs without passes with runs of all passes,
// of each pass alone, and without each single pass, on both engines. Samples
// and errors are equal to the byte, and each resumes from the states of the
// others.
func TestPassesChangeNothing(test *testing.T) {
	did := map[dataset.Pass]int{}
	errs, samples := 0, 0
	dir := test.TempDir()
	for seed := range graphs(test, 80) {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		bad := seed%4 == 3
		d := imageDefinition(r, bad, dir)
		o := dataset.Options{Seed: uint64(seed), Disable: dataset.Passes()}
		if bad && seed%8 == 3 {
			o.OnError = dataset.QuarantineOnError
			o.MaxSkips = -1
		}
		if seed%5 == 4 {
			o.World, o.Rank = 2, r.IntN(2)
			o.AllDone = func(_ context.Context, done bool) (bool, error) { return done, nil }
		}
		plain, err := dataset.Build(test.Context(), d, o)
		if err != nil {
			require.ErrorIs(test, err, dataset.ErrDefinition)
			continue
		}
		what := fmt.Sprintf("definition %d: %s", seed, describe(d))
		const most = 30
		var quarantined [][]string
		var states [][]*dataset.State
		epochs := func(p runner) (l [2][]string) {
			var at []*dataset.State
			for i := range l {
				l[i] = look(test, p, most)
				at = append(at, p.State())
				require.NoError(test, p.NextEpoch())
			}
			var bad []string
			for _, e := range p.(interface{ Quarantined() []*dataset.SampleError }).Quarantined() {
				bad = append(bad, e.Error())
			}
			quarantined, states = append(quarantined, bad), append(states, at)
			require.NoError(test, p.Close())
			return l
		}
		want := epochs(pull(test, plain, nil))
		samples += len(want[0])
		for _, v := range variants() {
			if bad && !slices.Contains(v.off, dataset.FilterEarly) {
				v.off = append(slices.Clone(v.off), dataset.FilterEarly) // it drops bad samples before a map fails on them
			}
			o.Disable, o.CacheBytes = v.off, v.bytes
			b, err := dataset.Build(test.Context(), d, o)
			require.NoError(test, err, what)
			what := fmt.Sprintf("%s, without %v, %d bytes", what, v.off, v.bytes)
			for _, s := range b.Steps() {
				for _, p := range s.Passes {
					did[p]++
				}
			}
			require.Equal(test, plain.Columns(), b.Columns(), what)
			require.Equal(test, plain.Len(), b.Len(), what)
			require.Equal(test, want, epochs(pull(test, b, nil)), what)
			require.Equal(test, quarantined[0], quarantined[len(quarantined)-1], what)
			require.Equal(test, states[0], states[len(states)-1], what)
			require.Equal(test, want, epochs(parallel(test, b, 2, nil)), what)
			if len(want[0]) > 0 && !bad {
				k := r.IntN(len(want[0]))
				for _, way := range [][2]*dataset.Built{{plain, b}, {b, plain}} {
					p := pull(test, way[0], nil)
					require.Equal(test, want[0][:k], look(test, p, k), what)
					q := pull(test, way[1], p.State())
					require.Equal(test, p.State(), q.State(), what)
					require.Equal(test, want[0][k:], look(test, q, most-k), "%s: resumed after %d", what, k)
					require.NoError(test, errors.Join(p.Close(), q.Close()))
				}
			}
			require.NoError(test, b.Close())
		}
		if len(quarantined[0]) > 0 {
			errs++
		}
		require.NoError(test, plain.Close())
	}
	test.Logf("%v, %d samples, %d definitions with bad samples", did, samples, errs)
	for _, p := range dataset.Passes() {
		require.Greater(test, did[p], graphs(test, 80)/4, "%v", p)
	}
}

func kinds(b *dataset.Built) (l []string) {
	for _, s := range b.Steps() {
		l = append(l, s.Node)
	}
	return l
}

func TestDecodeAndCropAreOneGraph(test *testing.T) {
	d := dataset.From(&photos{N: 6}).Map(datagraph.New(t.NewDecode())).Project("label", "image").
		Rename([]string{"image"}, []string{"pixels"}).Shuffle().
		MapColumns(onPixels(t.NewResizedCrop(1, 2, 12, 12, 8, 8)), []string{"pixels"}, []string{"crop"})
	b, err := dataset.Build(test.Context(), d, dataset.Options{})
	require.NoError(test, err)
	require.Equal(test, []string{"shuffle", "map", "test/photos"}, kinds(b))
	s := b.Steps()[1]
	require.Equal(test, []dataset.Pass{dataset.DecodeCrop, dataset.FuseMaps}, s.Passes)
	require.Len(test, s.Plan.Steps(), 1)
	require.Contains(test, s.Plan.Steps()[0].Passes, datagraph.RegionDecode)
	require.Equal(test, "label", b.Columns()[0].Name)
	require.Equal(test, "crop", b.Columns()[1].Name)
	require.NoError(test, b.Close())
}

func TestFiltersDecodeLess(test *testing.T) {
	d := dataset.From(&photos{N: 20, Bad: 7}).Map(datagraph.New(t.NewDecode())).Shuffle()
	d = dataset.Of(&dataset.Filter{Name: "test/some", In: []string{"label"}}, d) // drops 5, 6, 12, 13, 19
	for _, off := range [][]dataset.Pass{nil, {dataset.FilterEarly}} {
		b, err := dataset.Build(test.Context(), d, dataset.Options{Disable: off})
		require.NoError(test, err)
		p := pull(test, b, nil)
		l := look(test, p, 100)
		if off == nil { // 6 and 13 are bad and dropped
			require.Equal(test, []string{"map", "filter", "shuffle", "test/photos"}, kinds(b))
			require.Len(test, l, 15)
		} else {
			require.Contains(test, l[len(l)-1], "filter/shuffle/map: sample \"photo ")
		}
		require.NoError(test, errors.Join(p.Close(), b.Close()))
	}
}

// TestFusedMapsNameTheNode checks that the error of a fused map names the
// original map.
func TestFusedMapsNameTheNode(test *testing.T) {
	for source, want := range map[*photos]string{
		{N: 1, Bad: 1}: `dataset: map/map: sample "photo 0" (epoch 0, ordinal 0): datagraph: step 0 (decode)`,
		{N: 1}:         `dataset: map: sample "photo 0" (epoch 0, ordinal 0): datagraph: step 1 (resized_crop)`,
	} {
		d := dataset.From(source).Map(datagraph.New(t.NewDecode(), t.NewVerticalFlip())).
			Map(onPixels(t.NewHorizontalFlip(), t.NewResizedCrop(0, 0, 4000, 4000, 5, 5)))
		b, err := dataset.Build(test.Context(), d, dataset.Options{})
		require.NoError(test, err)
		require.Equal(test, []string{"map", "test/photos"}, kinds(b))
		p := pull(test, b, nil)
		_, err = p.Next(test.Context())
		var e *dataset.SampleError
		require.ErrorAs(test, err, &e)
		require.Contains(test, err.Error(), want)
		require.NoError(test, errors.Join(p.Close(), b.Close()))
	}
}

// TestPlacedCaches checks where caches lie, and how often rows are read in
// three epochs.
func TestPlacedCaches(test *testing.T) {
	counted := &reads{make(chan int64, 1000)}
	source := dataset.From(&photos{N: 9, reads: counted, own: true}).Shuffle()
	resized := source.Map(datagraph.New(t.NewDecode(), t.NewResizedCrop(0, 0, 9, 9, 12, 12), t.NewRandomHorizontalFlip(), t.NewToTensor())).Batch(4)
	whole := source.Map(datagraph.New(t.NewDecode(), &cropping{Size: 12})).Batch(4)
	above, below := []string{"batch", "map", "shuffle", "cache", "map", "test/photos"}, []string{"batch", "map", "shuffle", "cache", "test/photos"}
	none := []string{"batch", "map", "shuffle", "test/photos"}
	const one = 12*12*3 + 8 + 1000 // with a part of what a kept sample needs besides
	for what, c := range map[string]struct {
		d     *dataset.Dataset
		bytes int64
		kinds []string
		reads int // at most
	}{
		"all small images":          {resized, 9 * one * 2, above, 9},
		"some small images":         {resized, 4 * one, above, 24},
		"all large images":          {whole, 1 << 30, above, 9},
		"files instead of images":   {whole, 36_000, below, 9},
		"some files":                {whole, 14_000, below, 26},
		"nothing fits":              {whole, 100, none, 27},
		"nothing is asked for":      {whole, 0, none, 27},
		"a function above":          {source.MapFunc(nothing, []string{"label"}, dataset.Column{Name: "label", Desc: tensor.Desc{DType: tensor.Int64}}), 1 << 17, []string{"func", "shuffle", "cache", "test/photos"}, 9},
		"a source in memory":        {dataset.From(&photos{N: 9, reads: counted}).Shuffle().Map(datagraph.New(t.NewRandomCropDecodeResize(8, 8))), 1 << 30, []string{"map", "shuffle", "test/photos"}, 27},
		"two sources":               {dataset.NewZip(source.Project("image"), source.Project("label")).Map(datagraph.New(t.NewRandomCropDecodeResize(8, 8))), 1 << 30, []string{"map", "zip", "project", "shuffle", "cache", "test/photos", "project", "shuffle", "cache", "test/photos"}, 18},
		"a joined source":           {dataset.From(&photos{N: 9, reads: counted}).Concat(dataset.From(&photos{N: 3, reads: counted})).Map(datagraph.New(t.NewDecode(), t.NewResizedCrop(0, 0, 9, 9, 12, 12))), 1 << 30, []string{"cache", "map", "concat", "test/photos", "test/photos"}, 12},
		"a stream of other samples": {dataset.Of(&dataset.Filter{Name: "test/some", In: []string{"label"}}, source).Map(datagraph.New(t.NewDecode())), 1 << 17, []string{"map", "filter", "shuffle", "cache", "test/photos"}, 9},
	} {
		for _, node := range []bool{false, true} {
			d, o := c.d, dataset.Options{CacheBytes: c.bytes}
			if node {
				d, o = d.Cache(c.bytes), dataset.Options{}
			}
			b, err := dataset.Build(test.Context(), d, o)
			require.NoError(test, err, what)
			for len(counted.n) > 0 {
				<-counted.n // of Build
			}
			if what != "a function above" || !node {
				require.Equal(test, c.kinds, kinds(b), what)
			}
			p := pull(test, b, nil)
			var epochs [3][]string
			for i := range epochs {
				epochs[i] = look(test, p, 100)
				require.NoError(test, p.NextEpoch())
			}
			require.LessOrEqual(test, len(counted.n), c.reads, what)
			var hits, misses, kept int64
			for _, s := range b.Steps() {
				if s.Cache != nil {
					hits, misses, kept = hits+s.Cache.Hits, misses+s.Cache.Misses, kept+s.Cache.Bytes
				}
			}
			require.LessOrEqual(test, kept, c.bytes, what)
			if slices.Contains(kinds(b), "cache") {
				require.EqualValues(test, len(counted.n), misses, what)
				require.Positive(test, hits, what)
			}
			q := parallel(test, b, 2, nil)
			plain := b
			if !node { // a node changes the paths, and so the random numbers
				plain, err = dataset.Build(test.Context(), d, dataset.Options{Disable: dataset.Passes()})
				require.NoError(test, err)
			}
			r := pull(test, plain, nil)
			for i := range epochs {
				require.Equal(test, epochs[i], look(test, q, 100), what)
				require.Equal(test, epochs[i], look(test, r, 100), what)
				require.NoError(test, errors.Join(q.NextEpoch(), r.NextEpoch()))
			}
			require.NoError(test, errors.Join(p.Close(), q.Close(), r.Close(), b.Close(), plain.Close()))
		}
	}
}

func nothing(_ *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
	dst[0].Share(src[0])
	return nil
}

// TestFusedMapsAllocateNothing checks fused maps, and a cache below them.
func TestFusedMapsAllocateNothing(test *testing.T) {
	d := dataset.From(&photos{N: 3}).Map(datagraph.New(t.NewDecode())).Map(onPixels(t.NewHorizontalFlip(), &cropping{Size: 12})).
		Map(onPixels(t.NewRandomHorizontalFlip(), t.NewToTensor())).Repeat(0)
	for _, bytes := range []int64{0, 1 << 24} {
		b, err := dataset.Build(test.Context(), d, dataset.Options{CacheBytes: bytes})
		require.NoError(test, err)
		p := pull(test, b, nil)
		next := func() {
			_, err := p.Next(test.Context())
			require.NoError(test, err)
		}
		for range 200 {
			next()
		}
		// The source allocates a key for each sample.
		most := 2.0
		if bytes > 0 {
			require.Equal(test, []string{"repeat", "map", "cache", "map", "test/photos"}, kinds(b))
			most = 0
		}
		require.LessOrEqual(test, testing.AllocsPerRun(200, next), most)
		require.NoError(test, errors.Join(p.Close(), b.Close()))
	}
}

func TestPassNames(test *testing.T) {
	for _, p := range dataset.Passes() {
		q, err := dataset.ParsePass(p.String())
		require.NoError(test, err)
		require.Equal(test, p, q)
		require.NotEmpty(test, p.Doc())
	}
	_, err := dataset.ParsePass("no pass")
	require.ErrorIs(test, err, dataset.ErrPass)
	require.Equal(test, "pass 99", dataset.Pass(99).String())
	require.Empty(test, dataset.Pass(99).Doc())
}
