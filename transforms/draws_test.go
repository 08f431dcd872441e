package transforms

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// drawsFile is testdata/<op>/draws.json. testdata/gen/ops/draws.py computes it
// from the draws of the op's reference.
type drawsFile struct {
	Op        string      `json:"op"`
	Reference string      `json:"reference"`
	Cases     []drawsCase `json:"cases"`
}

type drawsCase struct {
	Name   string          `json:"name"`
	Params json.RawMessage `json:"params"`
	Height int             `json:"height"` // of the image
	Width  int             `json:"width"`
	File   string          `json:"file"`  // in testdata/images, for an op that decodes
	Boxes  [][]float32     `json:"boxes"` // xyxy, for an op that reads boxes
	Batch  int             `json:"batch"` // images of a batch with labels, CHW, for an op on batches
	N      int             `json:"n"`     // samples
	// Outcomes is keyed by the names of the ops drawn.
	Outcomes map[string]drawsOutcome `json:"outcomes"`
}

type drawsOutcome struct {
	Count  int                  `json:"count"`
	Values map[string]drawsStat `json:"values"` // keyed by the op's index and the parameter's name
}

// drawsStat describes a distribution.
type drawsStat struct {
	Mean float64   `json:"mean"`
	SD   float64   `json:"sd"`
	Min  float64   `json:"min"`
	Max  float64   `json:"max"`
	At   []float64 `json:"at"`
	UpTo []float64 `json:"up_to"` // fraction of the values up to each of At
}

// randomOps returns the registered ops that are Random.
func randomOps() (l []Info) {
	for _, i := range Ops() {
		if _, ok := i.New().(Random); ok {
			l = append(l, i)
		}
	}
	return l
}

// readDraws reads them once for all tests, which must not change them.
func readDraws(t testing.TB, op string) drawsFile {
	draws.Lock()
	defer draws.Unlock()
	f, ok := draws.read[op]
	if !ok {
		f = parseAllDraws(t, op)
		draws.read[op] = f
	}
	return f
}

var draws = struct {
	sync.Mutex
	read map[string]drawsFile
}{read: map[string]drawsFile{}}

func parseAllDraws(t testing.TB, op string) drawsFile {
	f := parseDraws(t, op)
	require.Equal(t, op, f.Op)
	// Draws from MXNet's environment have a folder of their own.
	if _, err := os.Stat(filepath.Join("testdata", op+"_mxnet", "draws.json")); err == nil {
		more := parseDraws(t, op+"_mxnet")
		require.Equal(t, op, more.Op)
		f.Cases = append(f.Cases, more.Cases...)
	}
	return f
}

func parseDraws(t testing.TB, folder string) (f drawsFile) {
	b, err := os.ReadFile(filepath.Join("testdata", folder, "draws.json"))
	require.NoError(t, err, "every random op has the distributions of its reference")
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&f))
	require.NotEmpty(t, f.Cases)
	return f
}

// drawing is a case that is drawn repeatedly.
type drawing struct {
	op    Random
	in    tensor.Desc
	src   []*tensor.Tensor // nil except for an op that decodes
	draw  *Draw
	descs [2]tensor.Desc // descriptions of the outputs after a draw
	more  tensor.Desc    // the second input: boxes, or the labels of a batch
}

func (k drawsCase) drawing(t testing.TB, i Info) *drawing {
	op, err := UnmarshalParams(i.Name, i.Version, k.Params)
	require.NoError(t, err)
	d := &drawing{op: op.(Random), in: tensor.Image(tensor.Uint8, tensor.HWC, k.Height, k.Width, 3), draw: NewDraw(newContext())}
	switch e := op.(type) {
	case *RandomErasing:
		if e.Noise {
			d.in.DType = tensor.Float32
		}
	case *HueJitter:
		d.in.DType = tensor.Float32
	case *RandomGrayscale:
		if e.Backend == MXNet {
			d.in.DType = tensor.Float32
		}
	}
	if i.In[0] == soundColumn[0] {
		d.in = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(k.Height, k.Width)}
	}
	if k.File != "" {
		b, err := os.ReadFile(filepath.Join("..", "testdata", "images", k.File))
		require.NoError(t, err)
		d.src = []*tensor.Tensor{tensor.FromBytes(b)}
		d.in = d.src[0].Desc
	}
	if k.Boxes != nil {
		boxes := floats(slices.Concat(k.Boxes...), len(k.Boxes), len(k.Boxes[0]))
		d.src, d.more = []*tensor.Tensor{nil, boxes}, boxes.Desc
	}
	if k.Batch > 0 {
		d.in = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(k.Batch, 3, k.Height, k.Width)}
		d.more = tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(k.Batch)}
	}
	return d
}

// at draws for a sample. The ops are valid until the next call.
func (d *drawing) at(k rng.Key, ordinal uint64) ([]Op, error) {
	d.draw.Begin()
	d.descs = [2]tensor.Desc{d.in, d.more}
	return d.draw.Run(d.op, k.At(ordinal), d.descs[:len(InfoOf(d.op).In)], d.src)
}

// eachDraws calls f for every case of every random op, or for the first of step
// cases under -short: TestDraws compares the distributions of all of them.
func eachDraws(t *testing.T, step int, f func(t *testing.T, i Info, k drawsCase, d *drawing)) {
	t.Helper()
	step = short.Step(t, step)
	for _, i := range randomOps() {
		t.Run(i.Name, func(t *testing.T) {
			cases := readDraws(t, i.Name).Cases
			for n := 0; n < len(cases); n += step {
				k := cases[n]
				t.Run(k.Name, func(t *testing.T) { f(t, i, k, k.drawing(t, i)) })
			}
		})
	}
}

// numbers returns the numeric parameters of an op by name, and the values
// derived from the parameters of a box.
func numbers(op Op, h, w int) map[string]float64 {
	m := map[string]float64{}
	v := reflect.ValueOf(op).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		switch f := v.Field(i); {
		case f.CanInt():
			m[name] = float64(f.Int())
		case f.CanFloat():
			m[name] = f.Float()
		case f.Type() == reflect.TypeFor[Range]():
			m[name+".min"], m[name+".max"] = f.Field(0).Float(), f.Field(1).Float()
		case f.Type() == reflect.TypeFor[[]int]():
			for j := range f.Len() {
				m[name+"."+strconv.Itoa(j)] = float64(f.Index(j).Int())
			}
		case name == "factors" || name == "weights":
			for j := range f.Len() {
				m[name+"."+strconv.Itoa(j)] = f.Index(j).Float()
			}
		case f.Kind() == reflect.Array:
			for j := range f.Len() {
				m[name+"."+strconv.Itoa(j)] = f.Index(j).Float()
			}
		}
	}
	if _, ok := m["left"]; ok && m["width"] != 0 {
		m["area"] = m["height"] * m["width"]
		m["ratio"] = m["width"] / m["height"]
		m["middle"] = 0
		if m["top"] == math.Floor((float64(h)-m["height"])/2) && m["left"] == math.Floor((float64(w)-m["width"])/2) {
			m["middle"] = 1
		}
	}
	return m
}

// deviations is the allowed distance of two estimates, in standard deviations.
// The tests in this file make some thousands of comparisons; by chance one in
// 1.7 million exceeds five. The samples are fixed, so a test that passes once
// always passes.
const deviations = 5

// TestDraws compares the distributions of the draws with the reference's. It
// compares the frequency of each list of ops. For each of their parameters it
// compares the mean, the bounds and the distribution function at nine points.
func TestDraws(t *testing.T) {
	eachDraws(t, 1, func(t *testing.T, i Info, k drawsCase, d *drawing) {
		n := short.Rounds(t, k.N, k.N/16)
		type collected struct {
			count  int
			values map[string][]float64
		}
		have := map[string]*collected{}
		key := rng.NewKey(3, 1, i.Name+k.Name)
		for o := range n {
			ops, err := d.at(key, uint64(o))
			require.NoError(t, err)
			names := make([]string, len(ops))
			for j, op := range ops {
				names[j] = InfoOf(op).Name
			}
			name := strings.Join(names, " ")
			if have[name] == nil {
				have[name] = &collected{values: map[string][]float64{}}
			}
			c := have[name]
			c.count++
			for j, op := range ops {
				for p, v := range numbers(op, k.Height, k.Width) {
					p = strconv.Itoa(j) + "." + p
					c.values[p] = append(c.values[p], v)
				}
			}
		}
		// fraction compares two estimates of a probability.
		fraction := func(what string, want float64, wantN int, got float64, gotN int) {
			p := (want*float64(wantN) + got*float64(gotN)) / float64(wantN+gotN)
			limit := deviations * math.Sqrt(p*(1-p)*(1/float64(wantN)+1/float64(gotN)))
			// Small counts are not normally distributed: allow for one more
			// sample.
			require.InDelta(t, want, got, limit+1/float64(min(wantN, gotN)), what)
		}
		for name := range have {
			_, ok := k.Outcomes[name]
			require.True(t, ok || have[name].count <= 20, "the reference never draws %q", name)
		}
		for name, want := range k.Outcomes {
			c := have[name]
			if c == nil {
				require.LessOrEqual(t, want.Count, 20*k.N/n, "%q is never drawn", name)
				continue
			}
			fraction("of "+name, float64(want.Count)/float64(k.N), k.N, float64(c.count)/float64(n), n)
			for p, s := range want.Values {
				what := name + " " + p
				v := c.values[p]
				require.NotEmpty(t, v, what)
				mean, beyond := 0.0, 0
				slack := 1e-6 * max(math.Abs(s.Min), math.Abs(s.Max)) // its numbers are rounded, and float32
				for _, x := range v {
					mean += x / float64(len(v))
					if x < s.Min-slack || x > s.Max+slack {
						beyond++
					}
				}
				require.InDelta(t, s.Mean, mean, deviations*s.SD*math.Sqrt(1/float64(want.Count)+1/float64(len(v)))+slack+1e-12, "mean of %s", what)
				// Some values exceed the largest of equally many others. More
				// than 20 do once in a million times.
				require.LessOrEqual(t, beyond, 20*max(1, len(v)/want.Count), "%s beyond %v to %v", what, s.Min, s.Max)
				for j, at := range s.At {
					count := 0
					for _, x := range v {
						if x <= at {
							count++
						}
					}
					fraction(what+" up to "+strconv.FormatFloat(at, 'g', -1, 64), s.UpTo[j], want.Count, float64(count)/float64(len(v)), len(v))
				}
			}
		}
	})
}

// TestDrawsAreValid checks that the ops drawn run on the input one after the
// other, and that the result matches Infer of the random op.
func TestDrawsAreValid(t *testing.T) {
	eachDraws(t, 1, func(t *testing.T, i Info, k drawsCase, d *drawing) {
		before := make([]tensor.Desc, len(i.Out))
		require.NoError(t, d.op.Infer(before, []tensor.Desc{d.in, d.more}[:len(i.In)]))
		vague := d.in
		if vague.IsImage() {
			vague = vague.WithSize(tensor.Unknown, tensor.Unknown)
		}
		vaguest := make([]tensor.Desc, len(i.Out))
		require.NoError(t, d.op.Infer(vaguest, []tensor.Desc{vague, d.more}[:len(i.In)]))
		key := rng.NewKey(4, 1, k.Name)
		for o := range uint64(short.Rounds(t, 500, 100)) {
			ops, err := d.at(key, o)
			require.NoError(t, err)
			at := append([]tensor.Desc(nil), []tensor.Desc{d.in, d.more}[:len(i.Out)]...)
			for _, op := range ops {
				_, random := op.(Random)
				require.False(t, random)
				require.NoError(t, op.Validate())
				out := make([]tensor.Desc, len(at))
				require.NoError(t, op.Infer(out, at))
				if s, ok := op.(DataShaped); ok {
					require.NoError(t, s.InferData(newContext(), out, d.src))
				}
				at = out
			}
			require.Equal(t, at, d.descs[:len(at)], "what Draw leaves in In")
			for j := range at {
				require.True(t, before[j].Matches(at[j]), "inferred %v, drawn %v", before[j], at[j])
				require.True(t, vaguest[j].Matches(at[j]), "inferred %v, drawn %v", vaguest[j], at[j])
			}
		}
	})
}

// TestDrawsAreAFunction checks that a draw depends only on the stream and the
// descriptions, not on earlier or concurrent draws.
func TestDrawsAreAFunction(t *testing.T) {
	eachDraws(t, 4, func(t *testing.T, i Info, k drawsCase, d *drawing) {
		key := rng.NewKey(5, 1, k.Name)
		const n = 100
		write := func(ops []Op, err error) (string, error) {
			return OpList(ops).String(), err
		}
		want := make([]string, n)
		for o := range want {
			var err error
			want[o], err = write(d.at(key, uint64(o)))
			require.NoError(t, err)
		}
		var wg sync.WaitGroup
		errs := make([]error, 3)
		for g := range errs {
			other := k.drawing(t, i)
			other.op = d.op // several goroutines share an op
			wg.Go(func() {
				for j := range n {
					o := (j*37 + g*11) % n // another order
					got, err := write(other.at(key, uint64(o)))
					if err == nil && got != want[o] {
						err = errors.New(got + ", want " + want[o])
					}
					errs[g] = errors.Join(errs[g], err)
				}
			})
		}
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
	})
}

// TestDrawsAllocateNothing checks that a draw does not allocate once each list
// of ops was drawn, except for the header of a file that is not a JPEG.
func TestDrawsAllocateNothing(t *testing.T) {
	eachDraws(t, 8, func(t *testing.T, i Info, k drawsCase, d *drawing) {
		if k.File != "" && !strings.HasSuffix(k.File, ".jpg") {
			return
		}
		key := rng.NewKey(6, 1, k.Name)
		var failed error
		o := uint64(0)
		once := func() {
			for range 20 {
				o++
				if _, err := d.at(key, o); err != nil {
					failed = err
				}
			}
		}
		for range 30 { // the more ops a draw may emit, the later the last list comes
			once()
		}
		require.Zero(t, testing.AllocsPerRun(20, once))
		require.NoError(t, failed)
	})
}

func TestDrawsRoundTrips(t *testing.T) {
	eachDraws(t, 4, func(t *testing.T, i Info, k drawsCase, d *drawing) { roundTrips(t, i, d.op) })
}

// TestDrawsWrongInputs checks that a draw rejects inputs that are not images,
// and images of unknown size.
func TestDrawsWrongInputs(t *testing.T) {
	require.ErrorIs(t, NewRandomHorizontalFlip().Apply(newContext(), nil, nil), ErrNotDrawn)
	eachDraws(t, 4, func(t *testing.T, i Info, k drawsCase, d *drawing) {
		require.ErrorIs(t, d.op.Apply(newContext(), nil, nil), ErrNotDrawn)
		for _, in := range []tensor.Desc{{DType: tensor.Uint8, Shape: tensor.Dims(3)}, tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 4, 3)} {
			d.in = in
			for o := range uint64(20) {
				if _, err := d.at(rng.NewKey(7, 0, ""), o); err != nil {
					require.ErrorIs(t, err, ErrInput)
				}
			}
		}
	})
}
