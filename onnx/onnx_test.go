package onnx

import (
	"bytes"
	"crypto/sha256"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/protowire"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func presetGraph(t testing.TB, name string) *datagraph.Graph {
	g, err := preset.Graph(name)
	require.NoError(t, err)
	return g
}

func TestExportStructure(t *testing.T) {
	any224 := tensor.Image(tensor.Float32, tensor.CHW, 224, 224, 3)
	for _, c := range []struct {
		name, preset string
		o            Options
		first        int
		in           Port
		out          []Port
		within       []int
		host         []string
		opset        int64
	}{
		{
			"exact", "imagenet", Options{Height: 300, Width: 400}, 1,
			Port{"image_in", "image", tensor.Image(tensor.Uint8, tensor.HWC, 300, 400, 3)},
			[]Port{{"image", "image", any224}}, nil, []string{"image"}, 18,
		},
		{
			"fast", "clip", Options{Form: Fast, Opset: 21}, 1,
			Port{"image", "image", tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)},
			[]Port{{"pixel_values", "pixel_values", any224}}, []int{1}, []string{"image"}, 21,
		},
		{
			"tail", "clip", Options{Form: Tail, Opset: 13, Batch: true}, 3,
			Port{"image", "image", tensor.Image(tensor.Uint8, tensor.HWC, 224, 224, 3)},
			[]Port{{"pixel_values", "pixel_values", any224}}, nil, []string{"image"}, 13,
		},
		{
			"side outputs", "yolo", Options{Form: Tail}, 2,
			Port{"image", "image", tensor.Image(tensor.Uint8, tensor.HWC, 640, 640, 3)},
			[]Port{{"images", "images", tensor.Image(tensor.Float32, tensor.CHW, 640, 640, 3)}}, nil, []string{"image", "scale", "pad"}, 18,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := presetGraph(t, c.preset)
			e, err := Export(g, c.o)
			require.NoError(t, err)
			require.Equal(t, c.first, e.First)
			require.Equal(t, []Port{c.in}, e.Inputs)
			require.Equal(t, c.out, e.Outputs)
			require.Equal(t, c.within, e.Within1)
			require.Equal(t, c.host, e.Host.Outputs)
			require.Len(t, e.Host.Steps, c.first)
			require.NoError(t, e.Host.Validate())

			again, err := Export(g, c.o)
			require.NoError(t, err)
			require.True(t, bytes.Equal(e.Model, again.Model), "equal graphs give equal bytes")

			m, err := parseModel(e.Model)
			require.NoError(t, err)
			require.Equal(t, producer, m.producer)
			require.Equal(t, []opsetImport{{"", c.opset}}, m.opsets)
			require.Len(t, m.graph.inputs, 1)
			require.Equal(t, c.in.Name, m.graph.inputs[0].name)
			require.Equal(t, c.in.Desc.DType, m.graph.inputs[0].dtype)
			require.Len(t, m.graph.outputs, len(c.out))
			dims := []int64{3, int64(c.out[0].Desc.Height()), int64(c.out[0].Desc.Width())}
			if c.o.Batch {
				dims = append([]int64{1}, dims...)
			}
			require.Equal(t, dims, m.graph.outputs[0].dims)
			checkNodes(t, m)
		})
	}
}

// checkNodes requires that every node uses earlier values, and that names are
// unique.
func checkNodes(t testing.TB, m *modelProto) {
	have := map[string]bool{"": true}
	add := func(n string) {
		require.False(t, have[n], "%q is made twice", n)
		have[n] = true
	}
	for _, in := range m.graph.inputs {
		add(in.name)
	}
	require.NoError(t, fields("graph", m.rawGraph, func(f field) error {
		if f.num == graphInitializer {
			n, err := nameOf(f)
			add(n)
			return err
		}
		return nil
	}))
	names := map[string]bool{}
	require.NoError(t, fields("graph", m.rawGraph, func(f field) error {
		if f.num != graphNode {
			return nil
		}
		return fields("node", f.data, func(f field) error {
			switch s := string(f.data); f.num {
			case nodeInput:
				require.True(t, have[s], "%q is used before it is made", s)
			case nodeOutput:
				add(s)
			case nodeName:
				require.False(t, names[s], s)
				names[s] = true
			}
			return nil
		})
	}))
	for _, o := range m.graph.outputs {
		require.True(t, have[o.name], o.name)
	}
}

// TestExportedNodes checks the nodes of every golden model.
func TestExportedNodes(t *testing.T) {
	for _, c := range readGoldens(t).Cases {
		e, err := Export(c.Graph, c.options(t, c.Runs[0]))
		require.NoError(t, err, c.Name)
		m, err := parseModel(e.Model)
		require.NoError(t, err, c.Name)
		checkNodes(t, m)
	}
}

// TestExportOutputs exports an output that is an input of the model, one that
// shares the value of another output, and columns that are rebound.
func TestExportOutputs(t *testing.T) {
	g := &datagraph.Graph{
		Inputs: []datagraph.Column{{Name: "x", Desc: tensor.Image(tensor.Uint8, tensor.HWC, 4, 5, 3)}},
		Steps: []datagraph.Step{
			{Op: transforms.NewToType(tensor.Uint8), In: []string{"x"}, Out: []string{"same"}},
			{Op: transforms.NewHWC2CHW(), In: []string{"x"}, Out: []string{"a"}},
			{Op: transforms.NewToType(tensor.Uint8), In: []string{"a"}, Out: []string{"b"}},
			{Op: transforms.NewToType(tensor.Float32), In: []string{"x"}, Out: []string{"x"}},
		},
		Outputs: []string{"same", "a", "b", "x"},
	}
	for _, batch := range []bool{false, true} {
		e, err := Export(g, Options{Batch: batch})
		require.NoError(t, err)
		require.Equal(t, "x_in", e.Inputs[0].Name)
		m, err := parseModel(e.Model)
		require.NoError(t, err)
		checkNodes(t, m)
		require.Len(t, m.graph.outputs, 4)
	}
	_, err := Export(g, Options{Form: Tail})
	require.NoError(t, err)
}

func TestExportRefuses(t *testing.T) {
	then := func(ops ...transforms.Op) *datagraph.Graph {
		return datagraph.New(append([]transforms.Op{transforms.NewDecode()}, ops...)...)
	}
	resize := func(i transforms.Interpolation, b transforms.Backend) *transforms.Resize {
		r := transforms.NewResize(20, 30)
		r.Interpolation, r.Backend = i, b
		return r
	}
	rgba := transforms.NewDecode()
	require.NoError(t, rgba.Color.UnmarshalText([]byte("rgba")))
	stated := Options{Height: 40, Width: 50}
	for _, c := range []struct {
		name string
		g    *datagraph.Graph
		o    Options
		kind error
		step int
		want string
	}{
		{"no size", presetGraph(t, "imagenet"), Options{}, ErrUnsupported, 1, "set the input size"},
		{"torch", then(resize(transforms.Bilinear, transforms.Torch)), stated, ErrUnsupported, 1, "fused multiply-add"},
		{"opencv", then(resize(transforms.Bicubic, transforms.OpenCV)), stated, ErrUnsupported, 1, "bicubic of backend opencv"},
		{"alpha", datagraph.New(rgba, resize(transforms.Bicubic, transforms.Pillow)), stated, ErrUnsupported, 1, "alpha"},
		{"alpha, fast", datagraph.New(rgba, resize(transforms.Bicubic, transforms.Pillow)), Options{Form: Fast}, ErrUnsupported, 1, "alpha"},
		{"lanczos, fast", then(resize(transforms.Lanczos, transforms.Pillow)), Options{Form: Fast}, ErrUnsupported, 1, "has no lanczos"},
		{"nearest of any size", then(resize(transforms.Nearest, transforms.Pillow)), Options{Form: Fast}, ErrUnsupported, 1, "size"},
		{"old antialias", presetGraph(t, "imagenet"), Options{Form: Fast, Opset: 17}, ErrUnsupported, 1, "opset 18"},
		{"taps of opencv", presetGraph(t, "yolo"), Options{HostTaps: true}, ErrUnsupported, 1, "Pillow's filters"},
		{"float image", then(transforms.NewToTensor(), resize(transforms.Bicubic, transforms.Pillow)), Options{Form: Fast}, ErrUnsupported, 2, "float32"},
		{"random", then(transforms.NewRandomHorizontalFlip()), Options{}, ErrUnsupported, 1, "random"},
		{"rotate", then(transforms.NewRotate90(1)), stated, ErrUnsupported, 1, "no operators"},
		{"hsv", then(transforms.NewConvertColor(transforms.RGB, transforms.HSV)), stated, ErrUnsupported, 1, "reordering"},
		{"torch gray", then(&transforms.Grayscale{Channels: 1, Backend: transforms.Torch}), stated, ErrUnsupported, 1, "float32"},
		{"no tail", then(resize(transforms.Bicubic, transforms.Pillow)), Options{Form: Tail}, ErrUnsupported, 1, "host"},
		{"crop outside", then(transforms.NewCrop(100, 0, 5, 5)), stated, ErrUnsupported, 1, "outside"},
		{"narrowing", then(transforms.NewToTensor(), transforms.NewToType(tensor.Int64)), Options{Form: Tail}, ErrUnsupported, 2, "does not define"},
		{"mirrored", then(&transforms.Pad{Top: 1, Mode: transforms.PadReflect, Fill: []float64{0}}), Options{Form: Fast}, ErrUnsupported, 1, "size"},
		{"too small", then(transforms.NewResizedCrop(0, 0, 60, 60, 10, 10)), stated, ErrUnsupported, 1, "at least 60 x 60"},
		{"decode alone", presetGraph(t, "decode"), Options{}, ErrUnsupported, -1, "after decoding"},
		{"decode alone, tail", presetGraph(t, "decode"), Options{Form: Tail}, ErrUnsupported, -1, "after decoding"},
		{"no graph", &datagraph.Graph{}, Options{}, datagraph.ErrGraph, -1, "inputs"},
		{"opset", presetGraph(t, "clip"), Options{Opset: 12}, ErrOptions, -1, "want 13 to 26"},
		{"one side", presetGraph(t, "clip"), Options{Height: 3}, ErrOptions, -1, "3x0"},
		{"huge", presetGraph(t, "clip"), Options{Height: 3, Width: 1 << 25}, ErrOptions, -1, "sides"},
		{"taps and size", presetGraph(t, "clip"), Options{HostTaps: true, Height: 3, Width: 3}, ErrOptions, -1, "taps"},
		{"taps, fast", presetGraph(t, "clip"), Options{HostTaps: true, Form: Fast}, ErrOptions, -1, "taps"},
		{"form", presetGraph(t, "clip"), Options{Form: 7}, ErrOptions, -1, "form(7)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Export(c.g, c.o)
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.want)
			if c.step >= 0 {
				var e *StepError
				require.ErrorAs(t, err, &e)
				require.Equal(t, c.step, e.Step)
				require.Equal(t, transforms.InfoOf(c.g.Steps[c.step].Op).Name, e.Op)
			}
		})
	}
	_, err := ParseForm("exactly")
	require.ErrorIs(t, err, ErrOptions)
}

func TestMerge(t *testing.T) {
	g := readGoldens(t)
	tiny := readFile(t, "tiny.onnx")
	before, err := parseModel(tiny)
	require.NoError(t, err)
	for _, m := range g.Merged { // ONNX Runtime ran them, with the outputs of the separate models
		t.Run(m.Form, func(t *testing.T) {
			form, err := ParseForm(m.Form)
			require.NoError(t, err)
			o := Options{Form: form}
			if form == Exact {
				o.Height, o.Width = 45, 60
			}
			e, err := Merge(g.MergeGraph, o, tiny)
			require.NoError(t, err)
			require.True(t, bytes.Equal(readFile(t, "merged_"+m.Form+".onnx"), e.Model), "run testdata/gen/models/onnx_forms.py")
			require.Equal(t, m.Input, e.Inputs[0].Name)
			require.Equal(t, "image_in", m.Input, "the model has an initializer named image")
			require.Equal(t, []Port{{"pixels", "image", tensor.Image(tensor.Float32, tensor.CHW, 28, 28, 3)}}, e.Outputs)
			after, err := parseModel(e.Model)
			require.NoError(t, err)
			checkNodes(t, after)
			require.Equal(t, before.metadata, after.metadata)
			require.Equal(t, before.graph.outputs, after.graph.outputs)
			require.Equal(t, before.opsets, after.opsets)
			// The merged model has all fields of the model in order; its input
			// is a value_info.
			at := 0
			require.NoError(t, fields("graph", before.rawGraph, func(f field) error {
				b := before.rawGraph[f.start:f.end]
				if f.num == graphInput {
					b = appendMessage(nil, graphValueInfo, f.data)
				}
				i := bytes.Index(after.rawGraph[at:], b)
				require.GreaterOrEqual(t, i, 0)
				at += i + len(b)
				return nil
			}))
		})
	}
}

// model returns a ModelProto of one Identity, followed by more.
func model(opset int64, in, out valueInfo, more ...[]byte) []byte {
	n := appendString(nil, nodeInput, in.name)
	n = appendString(n, nodeOutput, out.name)
	n = appendString(n, nodeType, "Identity")
	g := appendMessage(nil, graphNode, n)
	for i, v := range []valueInfo{in, out} {
		var dims []dimension
		for _, d := range v.dims {
			dims = append(dims, dimension{n: d})
		}
		g = appendValueInfo(g, []protowire.Number{graphInput, graphOutput}[i], v.name, v.dtype, dims)
	}
	m := appendInt(nil, modelIR, 8)
	m = appendMessage(m, modelGraph, g)
	m = appendMessage(m, modelOpset, appendInt(nil, opsetVersion, opset))
	return append(m, slices.Concat(more...)...)
}

func port(name string, d tensor.DType, dims ...int64) valueInfo {
	return valueInfo{name: name, dtype: d, dims: dims}
}

func TestMergeRefuses(t *testing.T) {
	clip := presetGraph(t, "clip")
	values := port("pixel_values", tensor.Float32, 1, 3, 224, 224)
	out := port("y", tensor.Float32, 1, 3, 224, 224)
	old := model(18, values, out)
	old[1] = 3
	for _, c := range []struct {
		name  string
		g     *datagraph.Graph
		o     Options
		model []byte
		kind  error
		want  string
	}{
		{"opset 11", clip, Options{Form: Tail}, readFile(t, "opset11.onnx"), ErrMerge, "opset 11, want 13 to 26"},
		{"opset 40", clip, Options{Form: Tail}, model(40, values, out), ErrMerge, "opset 40, want 13 to 26"},
		{"another opset", clip, Options{Form: Tail, Opset: 18}, model(20, values, out), ErrMerge, "one model has one opset"},
		{"function", clip, Options{Form: Tail}, readFile(t, "function.onnx"), ErrMerge, "local.Twice has opset 17, the model 18"},
		{"ir", clip, Options{Form: Tail}, old, ErrMerge, "ir_version 3"},
		{"no ai.onnx", clip, Options{Form: Tail}, appendMessage(nil, modelGraph, nil), ErrMerge, "does not import"},
		{"dtype", clip, Options{Form: Tail}, model(18, port("pixel_values", tensor.Float16, 1, 3, 224, 224), out), ErrMerge, "float16"},
		{"size", clip, Options{Form: Tail}, model(18, port("pixel_values", tensor.Float32, 1, 3, 384, 384), out), ErrMerge, "384"},
		{"rank", clip, Options{Form: Tail}, model(18, port("pixel_values", tensor.Float32, 224, 224), out), ErrMerge, "224 224"},
		{"batch", clip, Options{Form: Tail}, model(18, port("pixel_values", tensor.Float32, 4, 3, 224, 224), out), ErrMerge, "[4 3 224 224]"},
		{"cannot be lowered", presetGraph(t, "imagenet"), Options{}, model(18, values, out), ErrUnsupported, "resize"},
		{"fast, old", clip, Options{Form: Fast}, model(17, values, out), ErrUnsupported, "opset 18"},
		{"no model", clip, Options{Form: Tail}, []byte("ONNX"), ErrModel, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Merge(c.g, c.o, c.model)
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.want)
		})
	}
	// Two inputs, and none has the name of the output.
	g := appendValueInfo(nil, graphInput, "a", tensor.Float32, nil)
	g = appendValueInfo(g, graphInput, "b", tensor.Float32, nil)
	m := appendInt(nil, modelIR, 8)
	m = appendMessage(appendMessage(m, modelGraph, g), modelOpset, appendOpset(18))
	_, err := Merge(clip, Options{Form: Tail}, m)
	require.ErrorIs(t, err, ErrMerge)
	require.ErrorContains(t, err, "no input pixel_values, it has a, b")
}

// TestMergeFits checks that the preprocessing has the model's opset, and that
// an input without a batch axis gets none.
func TestMergeFits(t *testing.T) {
	clip := presetGraph(t, "clip")
	for _, opset := range []int64{13, 17, 18, 26} {
		for _, dims := range [][]int64{{3, 224, 224}, {1, 3, 224, 224}, {-1, -1, -1, -1}, {-1, 3, 224, 224}} {
			m := model(opset, port("x", tensor.Float32, dims...), port("y", tensor.Float32, dims...))
			e, err := Merge(clip, Options{Form: Tail}, m)
			require.NoError(t, err)
			r, err := parseModel(e.Model)
			require.NoError(t, err)
			checkNodes(t, r)
			require.Equal(t, opset, r.opset(""))
			require.Equal(t, len(dims) == 4, bytes.Contains(e.Model, []byte("Unsqueeze")))
		}
	}
	// The model has names with the default prefix.
	m := model(18, port("x", tensor.Float32, 3, 224, 224), port("infer_prep/3_rescale/Cast", tensor.Float32, 3, 224, 224))
	e, err := Merge(clip, Options{Form: Tail}, m)
	require.NoError(t, err)
	r, err := parseModel(e.Model)
	require.NoError(t, err)
	checkNodes(t, r)
	require.Contains(t, string(e.Model), "_infer_prep/3_rescale/Cast")
}

func TestEmbed(t *testing.T) {
	g := readGoldens(t).MergeGraph
	tiny := readFile(t, "tiny.onnx")
	b, err := Embed(tiny, g, nil)
	require.NoError(t, err)
	require.True(t, bytes.Equal(readFile(t, "embedded.onnx"), b), "run testdata/gen/models/onnx_forms.py") // ONNX Runtime loads it
	require.True(t, bytes.HasPrefix(b, tiny), "nothing else changes")

	back, goldens, err := Extract(b)
	require.NoError(t, err)
	require.Equal(t, g, back)
	require.Empty(t, goldens)

	want := []Golden{{
		Name: "cat.jpg", InputSHA256: sha256.Sum256([]byte("image")),
		Outputs: []modelbundle.Expected{{
			Name: "image", Desc: tensor.Image(tensor.Float32, tensor.CHW, 28, 28, 3), SHA256: sha256.Sum256([]byte("tensor")),
			Values: []modelbundle.Element{{At: 0, Value: 0.1}, {At: 7, Value: math.Inf(-1)}, {At: 2351, Value: math.Inf(1)}},
		}},
	}, {Name: "dog.jpg"}}
	with, err := Embed(b, presetGraph(t, "clip"), want)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(with, tiny), "the earlier graph is replaced")
	back, goldens, err = Extract(with)
	require.NoError(t, err)
	require.Equal(t, presetGraph(t, "clip"), back)
	require.Equal(t, want, goldens)

	plain, err := Embed(with, g, nil)
	require.NoError(t, err)
	require.Equal(t, b, plain)
	stripped, err := Strip(with)
	require.NoError(t, err)
	require.Equal(t, tiny, stripped)

	samples := Digests([]modelbundle.Golden{{Name: "cat.jpg", Input: []byte("image"), Outputs: want[0].Outputs}})
	require.Equal(t, want[:1], samples)
}

// TestEmbedKeepsUnknown checks that unknown fields stay in place, in the model
// and in the graph.
func TestEmbedKeepsUnknown(t *testing.T) {
	unknown := appendMessage(appendInt(nil, 1000, 77), 1001, []byte("future"))
	unknown = append(protowire.AppendTag(unknown, 1002, protowire.Fixed64Type), 1, 0, 0, 0, 0, 0, 0, 0)
	unknown = protowire.AppendFixed32(protowire.AppendTag(unknown, 1003, protowire.Fixed32Type), 2)
	m := append(slices.Clone(unknown), model(18, port("x", tensor.Float32), port("y", tensor.Float32), unknown)...)
	b, err := Embed(m, presetGraph(t, "clip"), nil)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(b, m))
	stripped, err := Strip(append(b, unknown...))
	require.NoError(t, err)
	require.Equal(t, append(slices.Clone(m), unknown...), stripped)
}

func entry(key, value string) []byte {
	return appendMessage(nil, modelMetadata, appendString(appendString(nil, entryKey, key), entryValue, value))
}

func TestExtractRefuses(t *testing.T) {
	tiny := readFile(t, "tiny.onnx")
	good := readFile(t, "embedded.onnx")
	output := `{"name":"x","dtype":"uint8","layout":"none","shape":[2],"sha256":"` + strings.Repeat("00", 32) + `","values":[[1,3]]}`
	golden := func(s string) []byte {
		return slices.Concat(good, entry(KeyGoldens, s))
	}
	one := `{"version":1,"goldens":[{"name":"a","input_sha256":"` + strings.Repeat("00", 32) + `","outputs":[` + output + `]}]}`
	_, l, err := Extract(golden(one))
	require.NoError(t, err)
	require.Len(t, l, 1)
	for _, c := range []struct {
		name  string
		model []byte
		kind  error
		want  string
	}{
		{"none", tiny, ErrNoGraph, KeyGraph},
		{"twice", slices.Concat(good, entry(KeyGraph, "{}")), ErrModel, "twice"},
		{"no JSON", slices.Concat(tiny, entry(KeyGraph, "graph")), ErrModel, KeyGraph},
		{"no graph", slices.Concat(tiny, entry(KeyGraph, "{}")), datagraph.ErrGraph, "infer_prep_graph is 0"},
		{"unknown op", slices.Concat(tiny, entry(KeyGraph, `{"infer_prep_graph":1,"steps":[{"op":"fly","version":1}]}`)), transforms.ErrUnknownOp, "fly"},
		{"goldens", golden("[]"), ErrModel, KeyGoldens},
		{"goldens' version", golden(`{"version":2}`), ErrModel, "version 2"},
		{"goldens' field", golden(strings.Replace(one, `"name":"a"`, `"nam":"a"`, 1)), ErrModel, "nam"},
		{"goldens' end", golden(one + "1"), ErrModel, "after"},
		{"digest", golden(strings.Replace(one, "00", "0g", 1)), ErrModel, "hex digits"},
		{"element", golden(strings.Replace(one, "[1,3]", "[2,3]", 1)), ErrModel, "element 2"},
		{"element of three", golden(strings.Replace(one, "[1,3]", "[1,3,4]", 1)), ErrModel, "3 parts"},
		{"desc", golden(strings.Replace(one, `"shape":[2]`, `"shape":[-5]`, 1)), ErrModel, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Extract(c.model)
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err = Embed([]byte{0}, presetGraph(t, "clip"), nil)
	require.ErrorIs(t, err, ErrModel)
	_, err = Embed(tiny, &datagraph.Graph{}, nil)
	require.ErrorIs(t, err, datagraph.ErrGraph)
}

func TestRead(t *testing.T) {
	m, err := parseModel(readFile(t, "tiny.onnx"))
	require.NoError(t, err)
	require.Equal(t, int64(8), m.ir)
	require.Equal(t, "tiny", m.producer)
	require.Equal(t, []metadataProp{{"author", "nobody"}, {"größe", "28×28"}}, m.metadata)
	require.Equal(t, "tiny", m.graph.name)
	require.Equal(t, []valueInfo{port("pixels", tensor.Float32, -1, 3, 28, 28)}, m.graph.inputs)
	require.Equal(t, []valueInfo{port("logits", tensor.Float32, -1, 3)}, m.graph.outputs)
	for _, n := range []string{"pixels", "image", "v", "features", "mean", "flat", "logits"} {
		require.True(t, m.graph.names[n], n)
	}
	m, err = parseModel(readFile(t, "function.onnx"))
	require.NoError(t, err)
	require.Equal(t, []functionProto{{"Twice", "local", []opsetImport{{"", 17}}}}, m.functions)
	require.Equal(t, int64(1), m.opset("local"))
	require.Zero(t, m.opset("other"))

	// An initializer makes an input optional. Names in subgraphs count.
	g := appendValueInfo(nil, graphInput, "w", tensor.Float32, nil)
	g = appendMessage(g, graphInitializer, appendString(nil, tensorName, "w"))
	inner := appendMessage(nil, graphNode, appendString(nil, nodeOutput, "inside"))
	sparse := appendMessage(nil, sparseValues, appendString(nil, tensorName, "s"))
	g = appendMessage(g, graphSparse, sparse)
	g = appendMessage(g, graphNode, appendMessage(nil, nodeAttribute, appendMessage(nil, attrGraph, inner)))
	m, err = parseModel(appendMessage(nil, modelGraph, g))
	require.NoError(t, err)
	require.Empty(t, m.graph.inputs)
	require.True(t, m.graph.names["inside"] && m.graph.names["s"] && m.graph.names["w"])
}

func TestReadRefuses(t *testing.T) {
	tiny := readFile(t, "tiny.onnx")
	deep := []byte{}
	for range maxDepth + 2 {
		deep = appendMessage(nil, graphNode, appendMessage(nil, nodeAttribute, appendMessage(nil, attrGraph, deep)))
	}
	many := func(field protowire.Number, n int) (b []byte) {
		for range n {
			b = appendMessage(b, field, nil)
		}
		return b
	}
	dims := appendMessage(nil, valueType, appendMessage(nil, typeTensor, appendMessage(nil, tensorDims, many(shapeDim, maxDims+1))))
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"nothing", nil, "no graph"},
		{"truncated", tiny[:len(tiny)-1], "beyond the end"},
		{"two graphs", many(modelGraph, 2), "two graphs"},
		{"deep", appendMessage(nil, modelGraph, deep), "nested deeper"},
		{"group", []byte{0x0b}, "wire type 3"},
		{"field 0", []byte{0x00}, "tag"},
		{"graph of a number", appendInt(nil, modelGraph, 1), "wire type"},
		{"UTF-8", slices.Concat(tiny, entry("a", "\xff")), "UTF-8"},
		{"opsets", many(modelOpset, maxOpsets+1), "opset imports"},
		{"entries", many(modelMetadata, maxEntries+1), "metadata_props"},
		{"functions", many(modelFunctions, maxEntries+1), "functions"},
		{"ports", appendMessage(nil, modelGraph, many(graphInput, maxPorts+1)), "inputs and outputs"},
		{"dims", appendMessage(nil, modelGraph, appendMessage(nil, graphInput, dims)), "axes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseModel(c.b)
			require.ErrorIs(t, err, ErrModel)
			require.ErrorContains(t, err, c.want)
		})
	}
	// A truncated model is an error, unless it ends at the end of a field after
	// the graph.
	for n := range tiny {
		if _, err := parseModel(tiny[:n]); err != nil {
			require.ErrorIs(t, err, ErrModel, "%d bytes", n)
		}
	}
}

func FuzzModel(f *testing.F) {
	for _, n := range []string{"tiny.onnx", "function.onnx", "embedded.onnx", "merged_fast.onnx"} {
		f.Add(readFile(f, n))
	}
	g, err := preset.Graph("clip")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseModel(b)
		if err != nil {
			require.ErrorIs(t, err, ErrModel)
			return
		}
		if _, _, err := m.embedded(); err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "onnx: "), err)
		}
		stripped, err := Strip(b)
		require.NoError(t, err)
		with, err := Embed(b, g, nil)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(with, stripped))
		back, _, err := Extract(with)
		require.NoError(t, err)
		require.Equal(t, g, back)
		if e, err := Merge(g, Options{Form: Tail}, b); err == nil {
			_, err = parseModel(e.Model)
			require.NoError(t, err)
		}
	})
}
