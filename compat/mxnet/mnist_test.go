package mxnet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// requireParams checks names and defaults of parameters against MXNet's
// documentation. A name without a default is required.
func requireParams(t *testing.T, s *paramSet, defaults any, want [][2]*string) {
	t.Helper()
	require.Len(t, s.fields, len(want))
	v := reflect.ValueOf(defaults)
	for _, p := range want {
		i, ok := s.fields[*p[0]]
		require.True(t, ok, "%s", *p[0])
		f := v.FieldByIndex(i)
		if p[1] == nil {
			require.True(t, f.IsZero(), *p[0])
			continue
		}
		got := ""
		switch x := f.Interface().(type) {
		case bool:
			got = map[bool]string{true: "1", false: "0"}[x]
		case float32:
			got = strconv.FormatFloat(float64(x), 'g', 9, 64)
		case tensor.DType:
			if got = "None"; *p[1] == x.String() {
				got = x.String()
			}
			require.Equal(t, tensor.Float32, x)
		case tensor.Shape:
			got = strings.NewReplacer("(", "[", ",)", "]", ")", "]").Replace(x.String())
		case []int, []float64, [][2]float64: // a list of one is written as its element
			got = strings.ReplaceAll(fmt.Sprint(x), " ", ", ")
			if f.Len() == 1 && (!strings.HasPrefix(*p[1], "[") || strings.HasPrefix(got, "[[")) {
				got = got[1 : len(got)-1]
			}
			if *p[0] == "area_range" {
				got = strings.Replace(got, "3]", "3.0]", 1)
			}
		default:
			got = fmt.Sprint(x)
		}
		require.Equal(t, *p[1], got, *p[0])
	}
}

// writeMNIST writes n images of h x w and their labels as the script does.
func writeMNIST(t *testing.T, folder string, n, h, w int) map[string]string {
	t.Helper()
	be := binary.BigEndian
	image := be.AppendUint32(nil, 2051)
	for _, s := range []int{n, h, w} {
		image = be.AppendUint32(image, uint32(s))
	}
	for i := range n * h * w {
		image = append(image, byte(7*i))
	}
	label := be.AppendUint32(be.AppendUint32(nil, 2049), uint32(n))
	for i := range n {
		label = append(label, byte(i))
	}
	args := map[string]string{"image": filepath.Join(folder, "image"), "label": filepath.Join(folder, "label")}
	require.NoError(t, os.WriteFile(args["image"], image, 0o600))
	require.NoError(t, os.WriteFile(args["label"], label, 0o600))
	return args
}

func TestMNISTIterAsMXNet(t *testing.T) {
	g := readGolden(t)
	requireParams(t, mnistParamSet, DefaultMNISTParams(), g.MNISTParams)
	for _, c := range g.MNIST {
		for _, ctx := range []string{"cpu", "gpu"} {
			t.Run(fmt.Sprint(c.Params, ctx), func(t *testing.T) {
				args := writeMNIST(t, t.TempDir(), c.N, c.H, c.W)
				args["ctx"], args["shuffle"] = ctx, "False"
				for k, v := range c.Params {
					args[k] = fmt.Sprint(v)
				}
				p, err := ParseMNISTParams(args)
				require.NoError(t, err)
				it, err := NewMNISTIter(t.Context(), p)
				require.NoError(t, err)
				if len(c.Desc) > 0 {
					require.Equal(t, []string{c.Desc[0].String(), c.Desc[1].String()}, describeAll(it))
				}
				for range 2 {
					labels := [][]float32{}
					var data bytes.Buffer
					for {
						b, err := it.Next(t.Context())
						if err == io.EOF {
							break
						}
						require.NoError(t, err)
						require.Zero(t, b.Pad)
						labels = append(labels, slices.Clone(tensor.View[float32](b.Label[0])))
						require.NoError(t, tensor.WriteRaw(&data, b.Data[0]))
						for i, n := range b.Index {
							require.EqualValues(t, labels[len(labels)-1][i], n)
						}
					}
					require.Equal(t, c.Labels, labels)
					require.Equal(t, c.Data, digest(data.Bytes()))
					require.NoError(t, it.Reset())
				}
				require.NoError(t, it.Close())
			})
		}
	}
}

func TestMNISTShuffle(t *testing.T) {
	args := writeMNIST(t, t.TempDir(), 60, 2, 2)
	args["batch_size"] = "7"
	order := func(ctx string, seed int) (epochs [][]float32) {
		args["ctx"], args["seed"] = ctx, fmt.Sprint(seed)
		p, err := ParseMNISTParams(args)
		require.NoError(t, err)
		it, err := NewMNISTIter(t.Context(), p)
		require.NoError(t, err)
		for range 2 {
			var l []float32
			for _, b := range epoch(t, it, 100) {
				l = append(l, b.Labels...)
			}
			require.Len(t, l, 56)
			require.False(t, slices.IsSorted(l))
			epochs = append(epochs, l)
			require.NoError(t, it.Reset())
		}
		require.NoError(t, it.Close())
		return epochs
	}
	a := order("cpu", 1)
	require.NotEqual(t, a[0], a[1])
	require.Equal(t, a, order("gpu", 1))
	require.NotEqual(t, a, order("cpu", 2))
}

func TestMNISTErrors(t *testing.T) {
	for _, c := range []struct{ name, value, says string }{
		{"images", "x", `unknown parameter "images"; did you mean "image"?`},
		{"image", "", "image is missing, want an IDX file"},
		{"batch_size", "0", "batch_size = 0, want 1 to 1048576"},
		{"part_index", "1", "part_index = 1, want 0 to num_parts - 1"},
		{"num_parts", "0", "num_parts = 0"},
		{"dtype", "uint8", "dtype = uint8, want None or float32"},
		{"ctx", "tpu", `ctx = "tpu", want cpu or gpu`},
		{"flat", "2", `flat = "2", want True or False`},
	} {
		_, err := ParseMNISTParams(map[string]string{c.name: c.value})
		require.ErrorIs(t, err, ErrParam)
		require.ErrorContains(t, err, "mxnet: MNISTIter: "+c.says)
	}
	folder := t.TempDir()
	args := writeMNIST(t, folder, 3, 2, 2)
	p, err := ParseMNISTParams(args)
	require.NoError(t, err)
	image, err := os.ReadFile(p.Image)
	require.NoError(t, err)
	label, err := os.ReadFile(p.Label)
	require.NoError(t, err)
	change := func(b []byte, at int, to byte) []byte {
		b = slices.Clone(b)
		b[at] = to
		return b
	}
	for i, c := range []struct {
		image, label []byte
		says         string
	}{
		{image[:10], label, "image has"},
		{image[:3], label, "image has 3 bytes, want a head of 16"},
		{image[:len(image)-1], label, "11 bytes of data"},
		{change(image, 7, 4), label, "12 bytes of data"},
		{change(image, 7, 0), label, "12 bytes of data"},
		{change(image, 2, 9), label, "begins with 00000903, want 00000803"},
		{image, change(label[:10], 7, 2), "2 labels"},
		{image, label[:9], "label has 1 bytes of data"},
		{image, image, "begins with"},
	} {
		require.NoError(t, os.WriteFile(p.Image, c.image, 0o600))
		require.NoError(t, os.WriteFile(p.Label, c.label, 0o600))
		_, err := NewMNISTIter(t.Context(), p)
		require.ErrorIs(t, err, dataset.ErrData, "%d", i)
		require.ErrorContains(t, err, c.says)
	}
	p.Image = filepath.Join(folder, "none")
	_, err = NewMNISTIter(t.Context(), p)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzIDX(f *testing.F) {
	f.Add([]byte{0, 0, 8, 1, 0, 0, 0, 2, 5, 6}, 1)
	f.Add([]byte{0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 5, 6}, 3)
	f.Fuzz(func(t *testing.T, b []byte, axes int) {
		if axes != 1 {
			axes = 3
		}
		sizes, err := idxHead(memory(b), "x", axes)
		if err != nil {
			return
		}
		n := int64(1)
		for _, s := range sizes {
			n *= s
		}
		require.EqualValues(t, len(b)-headSize(axes), n)
	})
}

// memory is a file in memory.
type memory []byte

func (m memory) ReadAt(b []byte, at int64) (int, error) { return bytes.NewReader(m).ReadAt(b, at) }
func (m memory) Size() int64                            { return int64(len(m)) }
func (m memory) Close() error                           { return nil }
