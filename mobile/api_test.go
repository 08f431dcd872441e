package mobile

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/modelbundle"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// types are all exported types with methods.
var types = []any{&Preprocessor{}, &Input{}, &Result{}, &Buffer{}, &Pipe{}, &PipeConfig{}, &Stream{}}

// call calls a method with an argument of each kind that is at number k of its
// extremes, and returns the results.
func call(m reflect.Value, k int) []reflect.Value {
	args := make([]reflect.Value, m.Type().NumIn())
	for i := range args {
		t := m.Type().In(i)
		v := reflect.New(t).Elem()
		switch x := []int64{0, -1, 1, math.MaxInt64, math.MinInt64}[k%5]; t.Kind() {
		case reflect.Int, reflect.Int64:
			v.SetInt(x >> (64 - t.Bits()))
		case reflect.String:
			v.SetString([]string{"", "\xff\x00", strings.Repeat("x", 1<<12)}[k%3])
		case reflect.Slice:
			v.SetBytes([][]byte{nil, {}, {0}, bytes.Repeat([]byte{0xff}, 1<<12)}[k%4])
		case reflect.Pointer:
			if k%2 == 1 {
				v.Set(reflect.New(t.Elem())) // a zero value
			}
		case reflect.Interface: // a Listener
		default:
			panic("the test has no argument of type " + t.String())
		}
		args[i] = v
	}
	return m.Call(args)
}

// TestZeroValues calls every method of nil and of zero values, which Java can
// make, with extreme arguments: none panics, and none has a value but zero.
func TestZeroValues(t *testing.T) {
	// The methods that are valid on a zero value.
	valid := map[string]bool{
		"Preprocessor.Close": true, "Pipe.Close": true, "Input.SetEncoded": true, "Result.SetBuffer": true,
		"PipeConfig.AddFile": true, "PipeConfig.AddImage": true,
	}
	calls := 0
	for _, x := range types {
		typ := reflect.TypeOf(x)
		for i := range typ.NumMethod() {
			name := typ.Elem().Name() + "." + typ.Method(i).Name
			for k := range 60 {
				for _, isNil := range []bool{true, false} {
					receiver := reflect.Zero(typ)
					if !isNil {
						receiver = reflect.New(typ.Elem())
					}
					out := call(receiver.Method(i), k)
					calls++
					if name == "Result.Image" { // -1 is none
						require.EqualValues(t, -1, out[0].Int())
						continue
					}
					for _, v := range out {
						err, isErr := v.Interface().(error)
						switch {
						case isErr:
							require.NotContains(t, []string{"", "internal", "io"}, Code(err), "%s: %v", name, err)
						case v.Type().String() == "error":
							require.True(t, valid[name] && (!isNil || strings.HasSuffix(name, ".Close")), "%s: no error", name)
						default:
							require.True(t, v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0, "%s: %v", name, v)
						}
					}
				}
			}
		}
	}
	t.Logf("%d calls of %d types", calls, len(types))
	require.Greater(t, calls, 5000)
}

// TestOpenOther opens bundles and graphs as the other: the error says so.
func TestOpenOther(t *testing.T) {
	_, err := Open([]byte(" " + decodeRGB))
	require.Equal(t, "bundle", Code(err))
	require.ErrorContains(t, err, "OpenGraph opens data graphs")
	bundle, err := os.ReadFile("../testdata/bundle/torchvision.bundle")
	require.NoError(t, err)
	_, err = OpenGraph(bundle)
	require.Equal(t, "graph", Code(err))
	require.ErrorContains(t, err, "Open opens bundles")
}

// TestExtremes calls every method of valid objects with extreme arguments: the
// objects still work afterwards.
func TestExtremes(t *testing.T) {
	p, jpeg := openBundle(t)
	want, err := p.RunJPEG(jpeg)
	require.NoError(t, err)
	c := NewPipeConfig()
	require.NoError(t, c.AddImage(jpeg))
	q, err := p.NewPipe(c)
	require.NoError(t, err)
	in, r := NewInput(), NewResult()
	require.NoError(t, in.SetEncoded(jpeg))
	require.NoError(t, p.RunInto(in, r))
	for _, x := range []any{p, in, r, &Buffer{make([]byte, 64)}, q, c} {
		v := reflect.ValueOf(x)
		for i := range v.NumMethod() {
			if v.Type().Method(i).Name == "Close" {
				continue
			}
			for k := range 60 {
				for _, o := range call(v.Method(i), k) {
					if err, ok := o.Interface().(error); ok {
						require.NotContains(t, []string{"", "internal"}, Code(err), "%s: %v", v.Type().Method(i).Name, err)
					}
				}
			}
		}
	}
	got, err := p.RunJPEG(jpeg)
	require.NoError(t, err)
	require.Equal(t, want.Data(0), got.Data(0))
	require.NoError(t, q.Close())
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	_, err = p.RunJPEG(jpeg)
	require.Equal(t, "closed", Code(err))
}

// bundle returns a bundle with all that one can have, and its golden's image.
func bundle(t testing.TB) (file, jpeg, key []byte) {
	t.Helper()
	jpeg, err := os.ReadFile("../testdata/images/jpeg_large.jpg")
	require.NoError(t, err)
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	golden, err := modelbundle.MakeGolden(g, "photo", jpeg, codec.Limits{})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, modelbundle.Create(&b, &modelbundle.Content{
		Graph: g, Labels: []string{"cat", "dog"}, Meta: map[string]string{"model": "resnet", "author": "nobody"},
		Models:  []modelbundle.Model{{Name: "model.onnx", Format: "onnx", Data: []byte("weights")}},
		Goldens: []modelbundle.Golden{golden},
	}))
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	opened, err := modelbundle.Open(b.Bytes(), modelbundle.Limits{})
	require.NoError(t, err)
	var signed bytes.Buffer
	require.NoError(t, opened.Sign(t.Context(), &signed, private))
	require.NoError(t, opened.Close())
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	require.NoError(t, err)
	return signed.Bytes(), jpeg, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func openBundle(t testing.TB) (p *Preprocessor, jpeg []byte) {
	t.Helper()
	b, jpeg, _ := bundle(t)
	p, err := Open(b)
	require.NoError(t, err)
	return p, jpeg
}

type listener func(done, total int) error

func (l listener) Progress(done, total int) error { return l(done, total) }

// TestBundle reads all that a bundle has, from memory and from a file.
func TestBundle(t *testing.T) {
	b, jpeg, key := bundle(t)
	path := filepath.Join(t.TempDir(), "model.bundle")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	given := bytes.Clone(b)
	mem, err := Open(given)
	require.NoError(t, err)
	clear(given) // Open has copied it
	file, err := OpenFile(path)
	require.NoError(t, err)
	for _, p := range []*Preprocessor{mem, file} {
		require.Equal(t, []any{2, "cat", "dog", ""}, []any{p.Labels(), p.Label(0), p.Label(1), p.Label(2)})
		require.Equal(t, []any{2, "author", "model", "resnet", ""}, []any{p.Metas(), p.MetaKey(0), p.MetaKey(1), p.Meta("model"), p.Meta("none")})
		require.Equal(t, []any{1, "model.onnx", ""}, []any{p.Models(), p.ModelName(0), p.ModelName(1)})
		for _, name := range []string{"", "model.onnx"} {
			m, err := p.Model(name)
			require.NoError(t, err)
			require.Equal(t, "weights", string(m))
		}
		_, err = p.Model("other")
		require.Equal(t, "input", Code(err))
		require.Len(t, p.Digest(), 64)
		require.Equal(t, []any{1, "float32", "CHW", 3, 3, 224, 224, "stack"},
			[]any{p.Outputs(), p.OutputDType(0), p.OutputLayout(0), p.OutputRank(0), p.OutputDim(0, 0), p.OutputDim(0, 1), p.OutputDim(0, 2), p.OutputBatch(0)})
		var steps []int
		require.NoError(t, p.Verify(listener(func(done, total int) error { steps = append(steps, done, total); return nil })))
		require.Equal(t, []int{0, 2, 1, 2, 2, 2}, steps)
		require.NoError(t, p.Verify(nil))
		own := errors.New("the user left")
		err = p.Verify(listener(func(done, _ int) error {
			if done == 1 {
				return own
			}
			return nil
		}))
		require.Equal(t, "canceled", Code(err))
		require.ErrorIs(t, err, own)
		require.Equal(t, "internal", Code(p.Verify(listener(func(int, int) error { panic("of the listener") }))))
		require.NoError(t, p.VerifySignature(key))
		require.Equal(t, "signature", Code(p.VerifySignature([]byte("no key"))))
		_, err = p.RunJPEG(jpeg)
		require.NoError(t, err)
		require.NoError(t, p.Close())
		require.Zero(t, p.Labels()+p.Models()+len(p.Digest()))
	}
}

// TestCodes makes an error of each kind that needs no more than bytes.
func TestCodes(t *testing.T) {
	b, jpeg, _ := bundle(t)
	broken := bytes.Clone(b)
	broken[len(broken)/2] ^= 1 // within the golden's image
	p, err := Open(b)
	require.NoError(t, err)
	open := func(f func([]byte) (*Preprocessor, error), b []byte) error {
		p, err := f(b)
		if err == nil {
			err = p.Verify(nil)
		}
		return err
	}
	run := func(image []byte) error { _, err := p.RunJPEG(image); return err }
	damaged := func(name string) []byte {
		b, err := os.ReadFile("../testdata/" + name)
		require.NoError(t, err)
		return b
	}
	for _, c := range []struct {
		code string
		err  error
	}{
		{"", nil},
		{"bundle", open(Open, nil)},
		{"bundle", open(Open, jpeg)},
		{"bundle", open(Open, b[:len(b)-1])},
		{"digest", open(Open, broken)},
		{"io", func() error { _, err := OpenFile(filepath.Join(t.TempDir(), "none")); return err }()},
		{"graph", open(OpenGraph, nil)},
		{"graph", open(OpenGraph, []byte("{"))},
		{"graph", open(OpenGraph, []byte{0xc1})},
		{"op", open(OpenGraph, []byte(strings.Replace(decodeRGB, `"op": "decode"`, `"op": "decoed"`, 1)))},
		{"param", open(OpenGraph, []byte(strings.Replace(decodeRGB, `"color": "rgb"`, `"color": "red"`, 1)))},
		{"format", run(nil)},
		{"format", run([]byte("text"))},
		{"format", run(jpeg[:20])},
		{"limit", run(damaged("damaged/bmp_huge.bmp"))},
		{"internal", fmt.Errorf("%w", errInternal)},
		{"io", errors.New("of nobody")},
	} {
		require.Equal(t, c.code, Code(c.err), "%v", c.err)
	}
	require.Equal(t, "internal", Code(bad{}))
	require.Regexp(t, `^v\d+\.\d+\.\d+$`, Version())
	runtime.GC()
	require.NotZero(t, HeapSize())
}

// bad is an error whose methods panic.
type bad struct{}

func (bad) Error() string { panic("of Error") }
func (bad) Is(error) bool { panic("of Is") }

// TestArguments checks that byte slices are not kept: the caller may overwrite
// them, and results.
func TestArguments(t *testing.T) {
	p, jpeg := openBundle(t)
	want, err := p.RunJPEG(jpeg)
	require.NoError(t, err)
	first := bytes.Clone(want.Data(0))
	given := bytes.Clone(jpeg)
	in, out := NewInput(), NewResult()
	require.NoError(t, in.SetEncoded(given))
	c := NewPipeConfig()
	require.NoError(t, c.AddImage(given))
	q, err := p.NewPipe(c)
	require.NoError(t, err)
	clear(given)
	require.NoError(t, p.RunInto(in, out))
	require.Equal(t, first, out.Data(0))
	clear(out.Data(0))
	r, err := q.Next()
	require.NoError(t, err)
	require.Equal(t, first, r.Data(0))
	require.Equal(t, first, want.Data(0), "a Result is not that of later runs")
}
