package mxnet

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// detRecordParams returns the parameters of a case of ImageDetRecordIter.
func detRecordParams(t *testing.T, folder string, params map[string]any) ImageDetRecordParams {
	t.Helper()
	args := map[string]string{"path_imgrec": filepath.Join(folder, "x.rec")}
	for k, v := range params {
		args[k] = pythonText(v)
	}
	for k, name := range map[string]string{"path_imglist": "x.lst", "mean_img": "mean.bin"} {
		if v, ok := args[k]; ok && v == "" {
			args[k] = filepath.Join(folder, name)
		}
	}
	p, err := ParseImageDetRecordParams(args)
	require.NoError(t, err)
	return p
}

func TestImageDetRecordIterAsMXNet(t *testing.T) {
	g := readImageIterGolden(t)
	requireParams(t, imageDetRecordParamSet, DefaultImageDetRecordParams(), g.RecordParams)
	mean, err := os.ReadFile("testdata/det_mean.bin")
	require.NoError(t, err)
	for n := 0; n < len(g.Record); n += short.Step(t, 3) {
		c := g.Record[n]
		t.Run(c.Name, func(t *testing.T) {
			folder := t.TempDir()
			packBoxes(t, folder, c.Files, c.Width)
			if c.Name != "mean image" { // which creates the mean image
				require.NoError(t, os.WriteFile(filepath.Join(folder, "mean.bin"), mean, 0o600))
			}
			if c.Source == "rec+lst" {
				c.Params["path_imglist"] = ""
			}
			p := detRecordParams(t, folder, c.Params)
			p.Context = []string{"cpu", "gpu"}[n%2]
			it, err := NewImageDetRecordIter(t.Context(), p)
			require.NoError(t, err)
			for i, d := range slices.Concat(it.ProvideData(), it.ProvideLabel()) {
				require.Equal(t, c.Desc[i][0], d.Name)
				require.Equal(t, pythonShape(c.Desc[i][1]), d.Shape.String())
			}
			for range 2 { // here every epoch equals the first one
				got, index := imagesOf(t, it)
				require.Len(t, got, len(c.Out))
				for i, want := range c.Out {
					b, at := got[i], index[i]
					if n := len(want.Images); !p.RoundBatch {
						b.Labels, b.Images, at = b.Labels[:len(b.Labels)/len(b.Images)*n], b.Images[:n], at[:n]
					}
					require.Equal(t, want.imageBatch, b, "batch %d", i)
					require.Equal(t, want.Index, at)
				}
				require.NoError(t, it.Reset())
			}
			require.NoError(t, it.Close())
			if c.Name == "mean image" {
				got, err := os.ReadFile(filepath.Join(folder, "mean.bin"))
				require.NoError(t, err)
				require.Equal(t, mean, got, "the file as MXNet writes it")
			}
		})
	}
}

// givenColor draws given numbers.
type givenColor struct {
	detColor
	h, s, l int
	c       float32
}

func (o *givenColor) Draw(d *transforms.Draw) error { return emitColor(d, o.h, o.s, o.l, o.c) }

// TestImageDetRecordColor compares the colours with those of MXNet, with equal
// random numbers.
func TestImageDetRecordColor(t *testing.T) {
	g := readImageIterGolden(t)
	require.Len(t, g.RecordColors, 12)
	context := transforms.NewContext(codec.Limits{})
	content, err := os.ReadFile(filepath.Join("../../testdata/images", g.RecordColors[0].File))
	require.NoError(t, err)
	decoder := transforms.NewDecode()
	src := []*tensor.Tensor{{Desc: tensor.Encoded(), Data: content}}
	desc := make([]tensor.Desc, 1)
	require.NoError(t, decoder.InferData(context, desc, src))
	image, err := tensor.New(desc[0])
	require.NoError(t, err)
	require.NoError(t, decoder.Apply(context, []*tensor.Tensor{image}, src))
	apply := func(op transforms.Op, x *tensor.Tensor) *tensor.Tensor {
		d := make([]tensor.Desc, 1)
		require.NoError(t, op.Infer(d, []tensor.Desc{x.Desc}))
		to, err := tensor.New(d[0])
		require.NoError(t, err)
		require.NoError(t, op.Apply(context, []*tensor.Tensor{to}, []*tensor.Tensor{x}))
		return to
	}
	for i, c := range g.RecordColors {
		d := transforms.NewDraw(context)
		d.Begin()
		ops, err := d.Run(&givenColor{h: c.H, s: c.S, l: c.L, c: c.C}, rng.NewKey(1, 2, "x").At(0), []tensor.Desc{image.Desc}, nil)
		require.NoError(t, err)
		x := image
		for _, op := range append(slices.Clone(ops), transforms.NewToType(tensor.Float32), transforms.NewHWC2CHW()) {
			x = apply(op, x)
		}
		var raw bytes.Buffer
		require.NoError(t, tensor.WriteRaw(&raw, x))
		require.Equal(t, c.Image, digest(raw.Bytes()), "image %d", i)
	}
}

// TestImageDetRecordRandom checks that images and labels depend only on seed,
// epoch and position.
func TestImageDetRecordRandom(t *testing.T) {
	folder := t.TempDir()
	packBoxes(t, folder, imageFiles, 5)
	params := map[string]any{
		"data_shape": []any{3, 20, 28}, "batch_size": 4, "resize": 40, "inter_method": 10, "shuffle": true, "seed": 3,
		"max_random_hue": 20, "random_hue_prob": 1, "max_random_saturation": 20, "random_saturation_prob": 0.5,
		"max_random_illumination": 20, "random_illumination_prob": 0.5, "max_random_contrast": 0.5, "random_contrast_prob": 0.9,
		"rand_mirror_prob": 0.5, "rand_pad_prob": 0.5, "max_pad_scale": 2, "rand_crop_prob": 0.5, "min_crop_scales": 0.4, "min_crop_overlaps": 0.1,
	}
	epochs := func(change func(*ImageDetRecordParams)) (images []map[int64]string, orders [][]int64) {
		p := detRecordParams(t, folder, params)
		change(&p)
		it, err := NewImageDetRecordIter(t.Context(), p)
		require.NoError(t, err)
		for range 2 {
			m, order := byID(t, it, p.BatchSize)
			require.Len(t, m, len(imageFiles), "every record once")
			images, orders = append(images, m), append(orders, order)
			require.NoError(t, it.Reset())
		}
		require.NoError(t, it.Close())
		return images, orders
	}
	want, orders := epochs(func(p *ImageDetRecordParams) { p.Context = "cpu" })
	require.NotEqual(t, want[0], want[1])
	require.NotEqual(t, orders[0], orders[1])
	for _, c := range []struct{ threads, size int }{{1, 4}, {3, 13}, {8, 40}} {
		got, order := epochs(func(p *ImageDetRecordParams) { p.PreprocessThreads, p.BatchSize = c.threads, c.size })
		require.Equal(t, want, got)
		require.Equal(t, orders, order)
	}
	other, _ := epochs(func(p *ImageDetRecordParams) { p.Seed = 4 })
	require.NotEqual(t, want, other)
}

func TestImageDetRecordParams(t *testing.T) {
	good := map[string]string{"data_shape": "(3, 24, 32)", "batch_size": "4"}
	for _, c := range []struct{ name, value, says string }{
		{"path_imgidx", "x", `unknown parameter "path_imgidx"`},
		{"rand_mirror", "1", `unknown parameter "rand_mirror"; did you mean "rand_mirror_prob"?`},
		{"rand_crop_prob", "nan", "rand_crop_prob = NaN, want a finite number"},
		{"max_pad_scale", "1001", "max_pad_scale = 1001, want -1000 to 1000"},
		{"num_crop_sampler", "65", "num_crop_sampler = 65, want 0 to 64"},
		{"path_imgrec", "", "path_imgrec is missing, want record files"},
		{"data_shape", "(2, 8, 8)", "data_shape = (2, 8, 8), want channels (1, 3 or 4), height and width"},
		{"label_width", "0", "label_width = 0, want -1, or 1 to 1048576"},
		{"label_pad_width", "-2", "label_pad_width = -2, want -1 to 1048576"},
		{"aug_seq", "aug_default", `aug_seq = "aug_default", want det_aug_default`},
		{"shuffle_chunk_size", "4", "shuffle_chunk_size = 4, want 0, or with shuffle 1 or more"},
		{"resize", "0", "resize = 0, want -1, or 1 to 65535"},
		{"resize_mode", "stretch", `resize_mode = "stretch", want force, shrink or fit`},
		{"crop_emit_mode", "edge", `crop_emit_mode = "edge", want center or overlap`},
		{"inter_method", "7", "inter_method = 7, want 0 to 4, 9 or 10"},
		{"dtype", "uint8", "dtype = uint8, want None or float32"},
		{"ctx", "tpu", `ctx = "tpu", want cpu or gpu`},
		{"random_hue_prob", "2", "random_hue_prob = 2, want 0 to 1"},
		{"preprocess_threads", "0", "preprocess_threads = 0, want 1 to 1024"},
		{"part_index", "1", "part_index = 1, want 0 to num_parts - 1"},
		{"max_crop_trials", "(3, 4)", "max_crop_trials = [3 4], want one number, or num_crop_sampler = 1 of them"},
		{"max_crop_trials", "1001", "max_crop_trials = [1001], want at most 1000"},
		{"max_crop_aspect_ratios", "1e7", "max_crop_aspect_ratios = [1e+07], want at most 1e+06"},
		{"min_crop_overlaps", "-1e7", "min_crop_overlaps = [-1e+07], want -1e+06 or more"},
		{"min_crop_scales", "(0.5, 0.6)", "min_crop_scales = [0.5 0.6], want one number, or num_crop_sampler = 1"},
		{"min_crop_scales", "1", "max_crop_scales = [1], want more than min_crop_scales"},
		{"min_crop_scales", "-0.1", "min_crop_scales = [-0.1], want 0 or more"},
		{"max_crop_scales", "1.5", "max_crop_scales = [1.5], want at most 1"},
		{"min_crop_overlaps", "2", "max_crop_overlaps = [1], want more than min_crop_overlaps, or as much"},
	} {
		_, err := ParseImageDetRecordParams(merged(good, map[string]string{c.name: c.value}))
		require.ErrorIs(t, err, ErrParam, c.says)
		require.ErrorContains(t, err, "mxnet: ImageDetRecordIter: "+c.says)
	}
	_, err := ParseImageDetRecordParams(merged(good, map[string]string{"data_shape": "(1, 8, 8)", "max_random_hue": "3"}))
	require.ErrorContains(t, err, "max_random_hue = 3, want 0 unless data_shape has 3 channels")
	p, err := ParseImageDetRecordParams(merged(good, map[string]string{"num_crop_sampler": "2", "min_crop_scales": "(0.1, 0.2)", "max_crop_trials": "[3, 4]"}))
	require.NoError(t, err)
	require.Equal(t, []float64{0.1, 0.2}, p.MinCropScales)
	p.LastBatch = "rollover"
	require.ErrorContains(t, p.Validate(), `LastBatch = "rollover", want pad, zero`)
}

func TestImageDetRecordErrors(t *testing.T) {
	folder := t.TempDir()
	packBoxes(t, folder, imageFiles[:4], 5)
	fails := func(change func(*ImageDetRecordParams)) error {
		p := detRecordParams(t, folder, map[string]any{"data_shape": []any{3, 20, 28}, "batch_size": 4})
		change(&p)
		it, err := NewImageDetRecordIter(t.Context(), p)
		for err == nil {
			if _, err = it.Next(t.Context()); err != nil {
				require.NoError(t, it.Close())
			}
		}
		return err
	}
	require.ErrorContains(t, fails(func(p *ImageDetRecordParams) { p.LabelPadWidth = 3 }), "label_pad_width = 3, want at least 22, the most labels of an image, or 0")
	err := fails(func(p *ImageDetRecordParams) { p.LabelWidth = 9 })
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, "labels, want label_width = 9")
	require.ErrorIs(t, fails(func(p *ImageDetRecordParams) { p.PathImgRec += "x" }), os.ErrNotExist)
	list := filepath.Join(folder, "y.lst")
	require.NoError(t, os.WriteFile(list, []byte("3\t2\t5\t0\t0\t0\t1\t1\ta\n"), 0o600))
	require.ErrorContains(t, fails(func(p *ImageDetRecordParams) { p.PathImgList = list }), "id 13 is not in "+list)
	require.ErrorContains(t, fails(func(p *ImageDetRecordParams) { p.PathImgList, p.LabelWidth = list, 8 }), "index 3 has 7 labels, want label_width = 8")
	require.NoError(t, os.WriteFile(list, []byte("3\t2\t5\t0\t0\t0\ta\n"), 0o600))
	require.ErrorContains(t, fails(func(p *ImageDetRecordParams) { p.PathImgList = list }), "x.rec@0: a label of 5 numbers, want at least 7")
	require.ErrorContains(t, fails(func(p *ImageDetRecordParams) { p.ResizeMode, p.DataShape = "fit", tensor.Dims(3, 1, 1) }), "too narrow")
}
