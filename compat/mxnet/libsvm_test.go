package mxnet

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// libSVMOf returns a LibSVMIter of the text of a file of data, and of one of
// labels unless it is nil.
func libSVMOf(t *testing.T, text string, labels *string, kwargs map[string]any) (*LibSVMIter, error) {
	t.Helper()
	folder := t.TempDir()
	args := map[string]string{"data_libsvm": filepath.Join(folder, "data")}
	require.NoError(t, os.WriteFile(args["data_libsvm"], []byte(text), 0o600))
	if labels != nil {
		args["label_libsvm"] = filepath.Join(folder, "label")
		require.NoError(t, os.WriteFile(args["label_libsvm"], []byte(*labels), 0o600))
	}
	for k, v := range kwargs {
		args[k] = strings.NewReplacer("[", "(", "]", ")", " ", ",").Replace(fmt.Sprint(v))
	}
	p, err := ParseLibSVMParams(args)
	if err != nil {
		return nil, err
	}
	return NewLibSVMIter(t.Context(), p)
}

// csrOf copies a matrix to the golden form.
func csrOf(m *CSR) goldenCSR {
	return goldenCSR{append([]float32{}, m.Data...), append([]int64{}, m.Indices...), append([]int64{}, m.Indptr...)}
}

func TestLibSVMIterAsMXNet(t *testing.T) {
	g := readGolden(t)
	requireParams(t, libSVMParamSet, DefaultLibSVMParams(), g.LibSVMParams)
	require.Len(t, g.LibSVM, 18)
	for _, c := range g.LibSVM {
		for _, ctx := range []string{"cpu", "gpu"} {
			t.Run(c.Name+", "+ctx, func(t *testing.T) {
				args := map[string]any{"ctx": ctx, "data_shape": c.N}
				for k, v := range c.Params {
					args[k] = v
				}
				it, err := libSVMOf(t, c.Text, c.Labels, args)
				require.NoError(t, err)
				if len(c.Desc) > 0 {
					require.Equal(t, []string{c.Desc[0].String(), c.Desc[1].String()}, describeAll(it))
				}
				for range 2 { // here every epoch equals the first one
					for i, want := range c.Out {
						b, err := it.NextCSR(t.Context())
						require.NoError(t, err)
						require.Equal(t, want.Data, csrOf(b.Data), "batch %d", i)
						if c.Labels != nil {
							var label goldenCSR
							require.NoError(t, json.Unmarshal(want.Label, &label))
							require.Equal(t, label, csrOf(b.Label), "batch %d", i)
							require.Nil(t, b.Labels)
						} else {
							var label []float32
							require.NoError(t, json.Unmarshal(want.Label, &label))
							require.Equal(t, label, b.Labels, "batch %d", i)
							require.Nil(t, b.Label)
						}
						require.Equal(t, want.Index, b.Index)
						require.Equal(t, want.Pad, b.Pad)
					}
					_, err := it.NextCSR(t.Context())
					require.Equal(t, io.EOF, err)
					_, err = it.Next(t.Context())
					require.Equal(t, io.EOF, err)
					require.NoError(t, it.Reset())
				}
				for i, want := range c.Out {
					b, err := it.Next(t.Context())
					require.NoError(t, err)
					require.Equal(t, it.ProvideLabel()[0].Shape, b.Label[0].Shape)
					require.Equal(t, want.Dense, tensor.View[float32](b.Data[0]), "batch %d", i)
				}
				require.NoError(t, it.Close())
				require.NoError(t, it.Close())
				_, err = it.Next(t.Context())
				require.Equal(t, dataset.ErrClosed, err)
				require.Equal(t, dataset.ErrClosed, it.Reset())
			})
		}
	}
}

// TestLibSVMParts checks that the parts of several files have every row once,
// in order.
func TestLibSVMParts(t *testing.T) {
	folder := t.TempDir()
	n := 0
	for k, rows := range []int{5, 0, 1, 17} {
		var text strings.Builder
		for range rows {
			fmt.Fprintf(&text, "%d 0:%d\n", n, n)
			n++
		}
		require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprint(k)), []byte(text.String()), 0o600))
	}
	for parts := 1; parts < 30; parts++ {
		var all []float32
		for k := range parts {
			p, err := ParseLibSVMParams(map[string]string{
				"data_libsvm": folder, "data_shape": "1", "batch_size": "1", "num_parts": fmt.Sprint(parts), "part_index": fmt.Sprint(k), "ctx": "cpu",
			})
			require.NoError(t, err)
			it, err := NewLibSVMIter(t.Context(), p)
			require.NoError(t, err)
			for {
				b, err := it.NextCSR(t.Context())
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				all = append(all, b.Labels...)
			}
			require.NoError(t, it.Close())
		}
		require.Len(t, all, n, "%d parts", parts)
		require.True(t, slices.IsSorted(all), "%d parts", parts)
	}
}

func TestLibSVMErrors(t *testing.T) {
	labels := "1 0:1\n"
	for _, c := range []struct {
		labels *string
		change map[string]any
		says   string
	}{
		{nil, map[string]any{"data_lib": ""}, `unknown parameter "data_lib"; did you mean "data_libsvm"?`},
		{nil, map[string]any{"data_shape": "(2,3)"}, "data_shape = (2, 3), want the number of features, as in (100,)"},
		{nil, map[string]any{"label_shape": "(3,)"}, "label_shape = (3,), want (1,) without label_libsvm"},
		{&labels, nil, "label_shape = (1,), want (1,) without label_libsvm, and otherwise the number of labels"},
		{nil, map[string]any{"round_batch": "False"}, "round_batch = false, want True"},
		{nil, map[string]any{"dtype": "float64"}, "dtype = float64, want None or float32"},
		{nil, map[string]any{"ctx": "tpu"}, `ctx = "tpu", want cpu or gpu`},
		{nil, map[string]any{"part_index": 1}, "part_index = 1, want 0 to num_parts - 1"},
		{nil, map[string]any{"batch_size": 0}, "batch_size is missing, want 1 to 1048576"},
		{nil, map[string]any{"num_parts": 0}, "num_parts = 0, want 1 to 16777216"},
	} {
		args := map[string]any{"data_shape": 3, "batch_size": 1}
		for k, v := range c.change {
			args[k] = v
		}
		_, err := libSVMOf(t, "", c.labels, args)
		require.ErrorIs(t, err, ErrParam, c.says)
		require.ErrorContains(t, err, "mxnet: LibSVMIter: "+c.says)
	}
	for _, c := range []struct{ line, says string }{
		{"x 0:1", `label "x", want a number`},
		{"1:x 0:1", `label "1:x", want a number`},
		{"1 0:1 3:1", `field 3: "3:1", want an index below 3, a colon and a number: value out of range`},
		{"1 0:1 2", `field 3: "2", want an index below 3`},
		{"1 -1:1", `field 2: "-1:1", want`},
		{"1 0:1:2", `field 2: "0:1:2", want`},
		{"1 0:", `field 2: "0:", want`},
		{"1 0:0x1p2", "invalid syntax"},
		{"1 0:1e99", "value out of range"},
		{"1 0:1 qid:3", `field 3: "qid:3", want`},
	} {
		for _, ctx := range []string{"cpu", "gpu"} {
			it, err := libSVMOf(t, "1 0:1\n# two\n\n"+c.line+"\n", nil, map[string]any{"data_shape": 3, "batch_size": 2, "ctx": ctx})
			require.NoError(t, err)
			_, err = it.Next(t.Context())
			require.ErrorIs(t, err, dataset.ErrData, c.line)
			require.ErrorContains(t, err, "data:4: ")
			require.ErrorContains(t, err, c.says)
			require.NoError(t, it.Close())
		}
	}
	_, err := libSVMOf(t, "1 0:1\n2 0:1\n", &labels, map[string]any{"data_shape": 3, "batch_size": 1, "label_shape": 2})
	require.ErrorContains(t, err, "1 rows of labels in ")
}

func TestLibSVMAllocations(t *testing.T) {
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "%d 0:0.5 7:%d.25\n", i, i)
	}
	it, err := libSVMOf(t, text.String(), nil, map[string]any{"data_shape": 9, "batch_size": 10, "ctx": "cpu"})
	require.NoError(t, err)
	per := testing.AllocsPerRun(200, func() {
		if _, err := it.NextCSR(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	require.LessOrEqual(t, per, fewAllocations(), "10 rows, with a key each")
	require.NoError(t, it.Close())
}

func FuzzLibSVM(f *testing.F) {
	f.Add([]byte("1:2 qid:7 0:0.5 8:1e-3 # text"), 9)
	f.Add([]byte("-2"), 1)
	f.Fuzz(func(t *testing.T, line []byte, n int) {
		var to, count dataset.Value
		if len(line) == 0 || n < 1 || n > 1<<31-1 {
			return
		}
		if _, err := parseFeatures(line, n, &to, &count); err != nil {
			return
		}
		l := tensor.View[int64](&to.Tensor)
		require.EqualValues(t, len(l), tensor.View[int64](&count.Tensor)[0])
		m := &CSR{Columns: n}
		m.reset()
		m.add(l)
		for _, i := range m.Indices {
			require.True(t, i >= 0 && i < int64(n))
		}
	})
}
