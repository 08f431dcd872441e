package transforms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() { Register(All()...) }

// The tests below check the promises of the package for every registered op.
// They run over the op's golden cases, whose values TestGoldens compares. The
// tests in draws_test.go check random ops, which are drawn and not applied.

// applied returns the registered ops that are not Random.
func applied() (l []Info) {
	for _, i := range Ops() {
		if _, ok := i.New().(Random); !ok {
			l = append(l, i)
		}
	}
	return l
}

// measured returns the ops of applied that have goldens. TestGoldens reports
// those that have none.
func measured() []Info {
	return slices.DeleteFunc(applied(), func(i Info) bool { return !hasGoldens(i.Name) })
}

func hasGoldens(op string) bool {
	_, err := os.Stat(filepath.Join("testdata", op))
	return err == nil
}

// eachCase calls f for every golden case of every op, or for the first of step
// cases under -short: TestGoldens compares the results of all of them.
func eachCase(t *testing.T, step int, f func(t *testing.T, i Info, op Op, src []*tensor.Tensor)) {
	t.Helper()
	eachGolden(t, step, func(t *testing.T, i Info, _ goldenCase, op Op, src []*tensor.Tensor) { f(t, i, op, src) })
}

// eachGolden is eachCase with the case itself.
func eachGolden(t *testing.T, step int, f func(t *testing.T, i Info, k goldenCase, op Op, src []*tensor.Tensor)) {
	t.Helper()
	step = short.Step(t, step)
	for _, i := range measured() {
		t.Run(i.Name, func(t *testing.T) {
			g, arrays := readGoldens(t, i.Name)
			for n := 0; n < len(g.Cases); n += step {
				k := g.Cases[n]
				t.Run(k.Name, func(t *testing.T) {
					var src []*tensor.Tensor
					for _, a := range k.In {
						src = append(src, a.tensor(t, arrays))
					}
					f(t, i, k, g.op(t, k), src)
				})
			}
		})
	}
}

func descs(src []*tensor.Tensor) []tensor.Desc {
	var d []tensor.Desc
	for _, s := range src {
		d = append(d, s.Desc)
	}
	return d
}

// outputs returns the tensors for Apply to write, with every byte set to fill.
func outputs(t *testing.T, c *Context, op Op, src []*tensor.Tensor, fill byte) []*tensor.Tensor {
	t.Helper()
	out := make([]tensor.Desc, len(InfoOf(op).Out))
	require.NoError(t, op.Infer(out, descs(src)))
	if d, ok := op.(DataShaped); ok {
		c.Begin()
		require.NoError(t, d.InferData(c, out, src))
	}
	var dst []*tensor.Tensor
	for _, d := range out {
		x, err := tensor.New(d)
		require.NoError(t, err)
		for i := range x.Data {
			x.Data[i] = fill
		}
		dst = append(dst, x)
	}
	return dst
}

func appliedTo(t *testing.T, c *Context, op Op, src []*tensor.Tensor, fill byte) []*tensor.Tensor {
	t.Helper()
	dst := outputs(t, c, op, src, fill)
	c.Begin()
	require.NoError(t, op.Apply(c, dst, src))
	return dst
}

func requireEqual(t *testing.T, want, got []*tensor.Tensor, what string) {
	t.Helper()
	for i := range want {
		require.Equal(t, want[i].Desc, got[i].Desc, what)
		require.True(t, bytes.Equal(want[i].Data, got[i].Data), "%s: output %d differs", what, i)
	}
}

func TestRegistryInfo(t *testing.T) {
	for _, i := range Ops() {
		require.NotEmpty(t, i.Reference, i.Name)
		require.NotEmpty(t, i.Exactness, i.Name)
		require.NotEmpty(t, i.In, i.Name)
		require.NotEmpty(t, i.Out, i.Name)
		require.NoError(t, i.New().Validate(), "%s: New gives the usual parameters, which are valid", i.Name)
		require.Equal(t, i.Name, InfoOf(i.New()).Name)
		_, err := UnmarshalParams(i.Name, i.Version+1, []byte("{}"))
		require.ErrorIs(t, err, ErrUnknownOp)
		_, _, err = ReadParams(i.Name, i.Version+1, []byte{0x90})
		require.ErrorIs(t, err, ErrUnknownOp)
	}
	_, err := UnmarshalParams("no_such_op", 1, []byte("{}"))
	require.ErrorIs(t, err, ErrUnknownOp)
	require.EqualError(t, err, `transforms: unknown op "no_such_op"`)
	_, err = UnmarshalParams("reszie", 1, []byte("{}"))
	require.EqualError(t, err, `transforms: unknown op "reszie"; did you mean "resize"?`)
	_, err = UnmarshalParams("resize", 1, []byte(`{"widht": 1}`))
	require.ErrorIs(t, err, ErrParam)
	require.ErrorContains(t, err, `unknown parameter "widht"; did you mean "width"?`)
}

func TestRegistryRoundTrips(t *testing.T) {
	eachCase(t, 8, func(t *testing.T, i Info, op Op, _ []*tensor.Tensor) { roundTrips(t, i, op) })
}

// roundTrips writes and reads the parameters in both forms, complete and
// corrupt.
func roundTrips(t *testing.T, i Info, op Op) {
	text, err := MarshalParams(op)
	require.NoError(t, err)
	back, err := UnmarshalParams(i.Name, i.Version, text)
	require.NoError(t, err)
	require.Equal(t, op, back)
	again, err := MarshalParams(back)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))

	b, err := AppendParams([]byte("x"), op)
	require.NoError(t, err)
	b = b[1:]
	back, rest, err := ReadParams(i.Name, i.Version, append(append([]byte{}, b...), 'y'))
	require.NoError(t, err)
	require.Equal(t, []byte("y"), rest)
	require.Equal(t, op, back)
	more, err := AppendParams(nil, back)
	require.NoError(t, err)
	require.Equal(t, b, more)
	for n := range b {
		_, _, err := ReadParams(i.Name, i.Version, b[:n])
		require.ErrorIs(t, err, ErrParam, "cut after %d of %d bytes", n, len(b))
	}
	b[0]++ // a tuple with one element too many
	_, _, err = ReadParams(i.Name, i.Version, append(b, 0))
	require.ErrorIs(t, err, ErrParam)

	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &fields))
	for name, value := range fields {
		delete(fields, name)
		short, err := json.Marshal(fields)
		require.NoError(t, err)
		_, err = UnmarshalParams(i.Name, i.Version, short)
		require.ErrorIs(t, err, ErrParam)
		require.ErrorContains(t, err, name)
		fields[name] = value
	}
	fields["no_such_field"] = json.RawMessage("1")
	long, err := json.Marshal(fields)
	require.NoError(t, err)
	_, err = UnmarshalParams(i.Name, i.Version, long)
	require.ErrorIs(t, err, ErrParam)
	require.ErrorContains(t, err, "no_such_field")
}

// TestRegistryInfer checks that the result of Infer with an unknown height or
// width agrees with its result for known sizes.
func TestRegistryInfer(t *testing.T) {
	eachCase(t, 16, func(t *testing.T, i Info, op Op, src []*tensor.Tensor) {
		c := newContext()
		in := descs(src)
		dst := appliedTo(t, c, op, src, 0)
		for mask := 1; mask < 4; mask++ {
			vague := append([]tensor.Desc{}, in...)
			for k, d := range in {
				if d.IsImage() {
					h, w := d.Height(), d.Width()
					if mask&1 != 0 {
						h = tensor.Unknown
					}
					if mask&2 != 0 {
						w = tensor.Unknown
					}
					vague[k] = d.WithSize(h, w)
				}
			}
			out := make([]tensor.Desc, len(dst))
			require.NoError(t, op.Infer(out, vague), "of %v", vague)
			for k := range out {
				require.True(t, out[k].Matches(dst[k].Desc), "output %d inferred from %v as %v, and is %v", k, vague, out[k], dst[k].Desc)
			}
		}
	})
}

// framed returns a tensor with the same values that is a view of a larger one.
func framed(t *testing.T, x *tensor.Tensor) *tensor.Tensor {
	big := x.Desc
	for a := range big.Shape.Rank() {
		big.Shape = big.Shape.With(a, big.Shape.At(a)+2+a)
	}
	v, err := tensor.New(big)
	require.NoError(t, err)
	for i := range v.Data {
		v.Data[i] = byte(i*7 + 1)
	}
	for a := range big.Shape.Rank() {
		v, err = v.Slice(a, 1, 1+x.Shape.At(a))
		require.NoError(t, err)
	}
	scatter(x, v, 0, 0, 0)
	require.True(t, bytes.Equal(x.Data, v.Clone().Data))
	return v
}

// scatter copies the dense x to the view v.
func scatter(x, v *tensor.Tensor, axis, from, to int) {
	size := x.DType.Size()
	if axis == x.Shape.Rank() {
		copy(v.Data[to*size:][:size], x.Data[from*size:])
		return
	}
	for i := range x.Shape.At(axis) {
		scatter(x, v, axis+1, from+i*x.Strides[axis], to+i*v.Strides[axis])
	}
}

// turned returns a tensor with the same values in the memory order of the other
// layout.
func turned(t *testing.T, x *tensor.Tensor) *tensor.Tensor {
	y, err := x.Transposed()
	require.NoError(t, err)
	v, err := y.Clone().Transposed()
	require.NoError(t, err)
	require.Equal(t, x.Desc, v.Desc)
	return v
}

func TestRegistryMemory(t *testing.T) {
	eachCase(t, 16, func(t *testing.T, i Info, op Op, src []*tensor.Tensor) {
		c := newContext()
		before := make([][]byte, len(src))
		for k, s := range src {
			before[k] = append([]byte{}, s.Data...)
		}
		want := appliedTo(t, c, op, src, 0xA5)
		requireEqual(t, want, appliedTo(t, c, op, src, 0x5A), "bytes that Apply did not write")

		views := map[string]func(*testing.T, *tensor.Tensor) *tensor.Tensor{"a window": framed, "another layout's memory": turned}
		for what, view := range views {
			strided := make([]*tensor.Tensor, len(src))
			for k, s := range src {
				strided[k] = s
				if s.DType != tensor.Bytes && s.Shape.Rank() > 0 && (what == "a window" || s.IsImage()) {
					strided[k] = view(t, s)
				}
			}
			requireEqual(t, want, appliedTo(t, newContext(), op, strided, 0xA5), what)
		}
		for k, s := range src {
			require.True(t, bytes.Equal(before[k], s.Data), "input %d was written", k)
		}
		if i.InPlace && src[0].Desc == want[0].Desc {
			dst := outputs(t, c, op, src, 0)
			dst[0] = src[0].Clone()
			in := append([]*tensor.Tensor{dst[0]}, src[1:]...)
			c.Begin()
			require.NoError(t, op.Apply(c, dst, in))
			requireEqual(t, want, dst, "in place")
		}
	})
}

// TestRegistryAllocations checks that an op does not allocate from its third
// run on, unless the case explains why.
func TestRegistryAllocations(t *testing.T) {
	eachGolden(t, 32, func(t *testing.T, i Info, k goldenCase, op Op, src []*tensor.Tensor) {
		if k.Allocates != "" {
			return
		}
		c := newContext()
		dst := outputs(t, c, op, src, 0)
		out, in := make([]tensor.Desc, len(dst)), descs(src)
		var failed error
		once := func() {
			err := op.Infer(out, in)
			if d, ok := op.(DataShaped); ok {
				c.Begin()
				err = errors.Join(err, d.InferData(c, out, src))
			}
			c.Begin()
			if err := errors.Join(err, op.Apply(c, dst, src)); err != nil {
				failed = err
			}
		}
		once()
		once()
		require.Zero(t, testing.AllocsPerRun(3, once))
		require.NoError(t, failed)
	})
}

// TestRegistryConcurrent runs an op in several goroutines, for the race
// detector.
func TestRegistryConcurrent(t *testing.T) {
	for _, i := range measured() {
		t.Run(i.Name, func(t *testing.T) {
			g, arrays := readGoldens(t, i.Name)
			k := g.Cases[0]
			var src []*tensor.Tensor
			for _, a := range k.In {
				src = append(src, a.tensor(t, arrays))
			}
			op := g.op(t, k)
			want := appliedTo(t, newContext(), op, src, 0)
			var wg sync.WaitGroup
			got := make([][]*tensor.Tensor, 4)
			errs := make([]error, len(got))
			for n := range got {
				wg.Go(func() { got[n], errs[n] = run(newContext(), op, src...) })
			}
			wg.Wait()
			for n := range got {
				require.NoError(t, errs[n])
				requireEqual(t, want, got[n], "another goroutine's")
			}
		})
	}
}

// someDescs returns valid and invalid descriptions of every kind.
func someDescs() []tensor.Desc {
	var l []tensor.Desc
	sizes := []int{0, 1, 7, tensor.Unknown}
	for dt := tensor.Invalid; dt <= tensor.Bytes+1; dt++ {
		for _, layout := range []tensor.Layout{tensor.HWC, tensor.CHW} {
			for c := tensor.Unknown; c <= 5; c++ {
				for _, h := range sizes {
					for _, w := range sizes {
						l = append(l, tensor.Image(dt, layout, h, w, c))
					}
				}
			}
		}
		for _, layout := range []tensor.Layout{tensor.NoLayout, tensor.HWC, tensor.CHW, 9} {
			for _, s := range []tensor.Shape{
				{}, tensor.Dims(3), tensor.Dims(4, 5), tensor.Dims(4, 5, 3), tensor.Dims(1, 4, 5, 3), tensor.Dims(0),
				tensor.Dims(-2, 4, 3), tensor.Dims(1<<30, 1<<30, 1<<30), tensor.Dims(1<<30, 1<<30, 4), tensor.Dims(1, 1, 1, 1, 1, 1, 1, 1),
			} {
				l = append(l, tensor.Desc{DType: dt, Layout: layout, Shape: s})
			}
		}
	}
	return l
}

// TestRegistryWrongInputs checks that Infer accepts a description or returns an
// ErrInput, never panics, and returns valid descriptions.
func TestRegistryWrongInputs(t *testing.T) {
	list := someDescs()
	step := short.Step(t, 46)
	for _, i := range Ops() {
		t.Run(i.Name, func(t *testing.T) {
			ops := []Op{i.New()}
			if _, ok := ops[0].(Random); ok {
				for _, k := range readDraws(t, i.Name).Cases {
					ops = append(ops, k.drawing(t, i).op)
				}
			} else if hasGoldens(i.Name) {
				g, _ := readGoldens(t, i.Name)
				for n := 0; n < len(g.Cases); n += 1 + len(g.Cases)/4 {
					ops = append(ops, g.op(t, g.Cases[n]))
				}
			}
			refused := 0
			in, out := make([]tensor.Desc, len(i.In)), make([]tensor.Desc, len(i.Out))
			for _, op := range ops {
				for n := 0; n < len(list); n += step {
					d := list[n]
					for k := range in {
						in[k] = d
					}
					// The functions of require take longer than Infer.
					if err := op.Infer(out, in); err != nil {
						if refused++; !errors.Is(err, ErrInput) {
							t.Fatalf("%v: %v", d, err)
						}
						continue
					}
					if err := d.Validate(); err != nil {
						t.Fatalf("accepted: %v", err)
					}
					for _, o := range out {
						if err := o.Validate(); err != nil {
							t.Fatalf("inferred from %v: %v", d, err)
						}
					}
				}
			}
			require.NotZero(t, refused)
		})
	}
}

// TestRegistryExamples checks that every op has an example that is named after
// its type.
func TestRegistryExamples(t *testing.T) {
	names, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, n := range names {
		f, err := parser.ParseFile(fset, n, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, f)
	}
	have := map[string]bool{}
	for _, e := range doc.Examples(files...) {
		name, _, _ := strings.Cut(e.Name, "_")
		have[name] = have[name] || e.Output != "" || e.EmptyOutput
	}
	for _, i := range Ops() {
		name := reflect.TypeOf(i.New()).Elem().Name()
		require.True(t, have[name], "op %s wants func Example%s with an Output comment", i.Name, name)
	}
}

// seeds calls add with the parameters of golden cases.
func seeds(f *testing.F, add func(i Info, op Op)) {
	for _, i := range Ops() {
		add(i, i.New())
		if _, ok := i.New().(Random); ok {
			for _, k := range readDraws(f, i.Name).Cases {
				add(i, k.drawing(f, i).op)
			}
			continue
		}
		b, err := os.ReadFile(filepath.Join("testdata", i.Name, "cases.json"))
		if err != nil {
			continue // TestGoldens reports it
		}
		var g goldenFile
		require.NoError(f, json.Unmarshal(b, &g))
		for n := 0; n < len(g.Cases); n += 1 + len(g.Cases)/5 {
			op, err := UnmarshalParams(i.Name, i.Version, g.Cases[n].Params)
			require.NoError(f, err)
			add(i, op)
		}
	}
}

func checkInfer(t *testing.T, i Info, op Op) {
	out := make([]tensor.Desc, len(i.Out))
	in := make([]tensor.Desc, len(i.In))
	for _, d := range []tensor.Desc{
		tensor.Encoded(), tensor.Image(tensor.Uint8, tensor.HWC, 7, 5, 3), tensor.Image(tensor.Uint8, tensor.CHW, 1, 1, 4),
		tensor.Image(tensor.Float32, tensor.CHW, tensor.Unknown, tensor.Unknown, 3), tensor.Image(tensor.Float32, tensor.HWC, 1, 1<<20, 1),
		tensor.Image(tensor.Uint8, tensor.HWC, 1<<20, 1<<20, 3),
	} {
		for k := range in {
			in[k] = d
		}
		if err := op.Infer(out, in); err != nil {
			require.ErrorIs(t, err, ErrInput)
			continue
		}
		for _, o := range out {
			require.NoError(t, o.Validate())
		}
	}
}

func FuzzParamsJSON(f *testing.F) {
	seeds(f, func(i Info, op Op) {
		b, err := MarshalParams(op)
		require.NoError(f, err)
		f.Add(i.Name, []byte(b))
	})
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		i, err := Lookup(name)
		if err != nil {
			return
		}
		op, err := UnmarshalParams(name, i.Version, b)
		if err != nil {
			require.ErrorIs(t, err, ErrParam)
			return
		}
		text, err := MarshalParams(op)
		require.NoError(t, err)
		back, err := UnmarshalParams(name, i.Version, text)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(op), fmt.Sprint(back))
		checkInfer(t, i, op)
	})
}

func FuzzParamsMsgp(f *testing.F) {
	seeds(f, func(i Info, op Op) {
		b, err := AppendParams(nil, op)
		require.NoError(f, err)
		f.Add(i.Name, b)
	})
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		i, err := Lookup(name)
		if err != nil {
			return
		}
		op, _, err := ReadParams(name, i.Version, b)
		if err != nil {
			require.ErrorIs(t, err, ErrParam)
			return
		}
		out, err := AppendParams(nil, op)
		require.NoError(t, err)
		back, _, err := ReadParams(name, i.Version, out)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(op), fmt.Sprint(back))
		checkInfer(t, i, op)
	})
}
