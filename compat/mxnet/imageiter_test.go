package mxnet

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// imageIterGolden is the output of mx.image.ImageIter;
// testdata/gen/mxnet/mxnet_image_iters.py generates it.
type imageIterGolden struct {
	Params [][2]*string
	Files  []string
	Cases  []struct {
		Name, Source string
		Params       map[string]any
		Desc         [][2]any
		Out          [][]imageBatch
	}
	Color []struct {
		Name       string
		Draw       json.RawMessage
		Image, Out []float32
	}
	Boxes []struct {
		H, W    int
		Deciles [4][]float64
		Below   [4][]float64
	}
	DetParams [][2]*string `json:"det_params"`
	Det       []struct {
		Name, Source string
		Width        int
		Params       map[string]any
		Desc         [][2]any
		Out          [][]imageBatch
	}
	RecordParams [][2]*string `json:"record_params"`
	Record       []struct {
		Name, Source string
		Files        []string
		Width        int
		Params       map[string]any
		Desc         [][2]any
		Out          []struct {
			imageBatch
			Index []int64
		}
	}
	RecordColors []struct {
		File    string
		H, S, L int
		C       float32
		Image   string
	} `json:"record_colors"`
}

func readImageIterGolden(t *testing.T) *imageIterGolden {
	t.Helper()
	b, err := os.ReadFile("testdata/image_iters.json")
	require.NoError(t, err)
	var g imageIterGolden
	require.NoError(t, json.Unmarshal(b, &g))
	return &g
}

// pythonText returns the text form of a golden parameter.
func pythonText(v any) string {
	switch v := v.(type) {
	case []any:
		var l []string
		for _, x := range v {
			l = append(l, pythonText(x))
		}
		return "[" + strings.Join(l, ", ") + "]"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	}
	return fmt.Sprint(v)
}

// packSources packs images as the script does: x.rec, x.idx in the reverse
// order, and x.lst.
func packSources(t *testing.T, folder string, files []string, width int) {
	t.Helper()
	packImages(t, folder, files, width)
	reverseIndex(t, folder)
}

// reverseIndex reverses the lines of x.idx.
func reverseIndex(t *testing.T, folder string) {
	t.Helper()
	name := filepath.Join(folder, "x.idx")
	index, err := os.ReadFile(name)
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.TrimSuffix(string(index), "\n")+"\n", "\n")
	slices.Reverse(lines)
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600))
}

// sourceParams adds the source of a case to the text parameters. It returns
// imglist.
func sourceParams(folder, source string, files []string, labels func(i int) []float32, args map[string]string) (list []ImageItem) {
	join := func(name string) string { return filepath.Join(folder, name) }
	if source == "rec" || strings.HasPrefix(source, "idx") {
		args["path_imgrec"] = join("x.rec")
	}
	if strings.HasPrefix(source, "idx") {
		args["path_imgidx"] = join("x.idx")
	}
	if strings.HasSuffix(source, "lst") {
		args["path_imglist"] = join("x.lst")
	}
	if source == "lst" || source == "imglist" {
		args["path_root"] = "../../testdata/images"
	}
	if source == "imglist" {
		for i, name := range files {
			list = append(list, ImageItem{Path: name, Labels: labels(i)})
		}
	}
	return list
}

// caseParams returns the parameters of a case of ImageIter.
func caseParams(t *testing.T, folder, source string, files []string, params map[string]any) ImageIterParams {
	t.Helper()
	args := map[string]string{}
	width := 1
	for k, v := range params {
		args[k] = pythonText(v)
		if k == "label_width" {
			width = int(v.(float64))
		}
	}
	list := sourceParams(folder, source, files, func(i int) (l []float32) {
		for k := range width {
			l = append(l, float32(100*k+i)+0.125)
		}
		return l
	}, args)
	p := DefaultImageIterParams()
	require.NoError(t, imageListParamSet.parse(&p, imageNet(args)))
	p.ImgList = list
	require.NoError(t, p.Validate())
	return p
}

func TestImageIterAsMXNet(t *testing.T) {
	g := readImageIterGolden(t)
	requireParams(t, imageListParamSet, DefaultImageIterParams(), g.Params)
	folders := map[int]string{}
	for _, width := range []int{1, 3} {
		folders[width] = t.TempDir()
		packSources(t, folders[width], g.Files, width)
	}
	for n := 0; n < len(g.Cases); n += short.Step(t, 3) {
		c := g.Cases[n]
		t.Run(c.Name, func(t *testing.T) {
			width := 1
			if w, ok := c.Params["label_width"]; ok {
				width = int(w.(float64))
			}
			p := caseParams(t, folders[width], c.Source, g.Files, c.Params)
			if n%4 == 1 {
				p.Threads = 2
			}
			it, err := NewImageIter(t.Context(), p)
			require.NoError(t, err)
			for i, d := range slices.Concat(it.ProvideData(), it.ProvideLabel()) {
				require.Equal(t, c.Desc[i][0], d.Name)
				require.Equal(t, pythonShape(c.Desc[i][1]), d.Shape.String())
			}
			for e, want := range c.Out {
				got, index := imagesOf(t, it)
				require.Len(t, got, len(want), "epoch %d", e)
				for i := range want {
					if p.LastBatchHandle == "roll_over" {
						want[i].Pad = 0 // MXNet counts the rows carried over, which are not padding
					}
					require.Equal(t, want[i], got[i], "epoch %d, batch %d", e, i)
					if c.Source == "rec" {
						require.EqualValues(t, 10*int64(got[i].Labels[0])+3, index[i][0])
					}
				}
				require.NoError(t, it.Reset())
			}
			require.NoError(t, it.Close())
		})
	}
}

func pythonShape(v any) string {
	var s tensor.Shape
	for _, n := range v.([]any) {
		s = s.Append(int(n.(float64)))
	}
	return s.String()
}

// TestImageColor compares the colour augmenters with those of MXNet, with equal
// random numbers.
func TestImageColor(t *testing.T) {
	g := readImageIterGolden(t)
	require.Len(t, g.Color, 14)
	for _, c := range g.Color {
		var draw float64
		if c.Name != "lighting" {
			require.NoError(t, json.Unmarshal(c.Draw, &draw))
		}
		var op transforms.Op
		switch alpha := 1 + draw; c.Name {
		case "brightness":
			op = &jitter{kind: jitterBrightness, alpha: alpha}
		case "contrast":
			op = &jitter{kind: jitterContrast, alpha: alpha}
		case "saturation":
			op = &jitter{kind: jitterSaturation, alpha: alpha}
		case "hue":
			op = transforms.NewHueRotation(draw)
		case "gray":
			ops, err := transforms.NewDraw(transforms.NewContext(codec.Limits{})).Run(transforms.NewRandomGray(1), rng.Stream{},
				[]tensor.Desc{tensor.Image(tensor.Float32, tensor.HWC, 5, 4, 3)}, nil)
			require.NoError(t, err)
			op = ops[0]
		case "lighting":
			var draws [3]float64
			require.NoError(t, json.Unmarshal(c.Draw, &draws))
			noise := lighting(draws)
			op = &noise
		}
		in, err := tensor.New(tensor.Image(tensor.Float32, tensor.HWC, 5, 4, 3))
		require.NoError(t, err)
		copy(tensor.View[float32](in), c.Image)
		out, err := tensor.New(in.Desc)
		require.NoError(t, err)
		require.NoError(t, op.Apply(transforms.NewContext(codec.Limits{}), []*tensor.Tensor{out}, []*tensor.Tensor{in}))
		require.Equal(t, c.Out, tensor.View[float32](out), c.Name)
	}
}

// TestImageBoxes compares the distribution of rand_resize's boxes with that of
// MXNet's, within five standard deviations.
func TestImageBoxes(t *testing.T) {
	g := readImageIterGolden(t)
	const n = 4000
	for _, c := range g.Boxes {
		o := &sizedCrop{h: 24, w: 32, method: 1, random: true, sized: true}
		d := transforms.NewDraw(&transforms.Context{})
		key := rng.NewKey(1, 2, "x")
		var sides [4][]float64
		for i := range n {
			d.Begin()
			ops, err := d.Run(o, key.At(uint64(i)), []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, c.H, c.W, 3)}, nil)
			require.NoError(t, err)
			var box [4]int
			switch op := ops[0].(type) {
			case *transforms.ResizedCrop:
				box = [4]int{op.Left, op.Top, op.Width, op.Height}
			case *transforms.Crop:
				box = [4]int{op.Left, op.Top, op.Width, op.Height}
			}
			for k, v := range box {
				sides[k] = append(sides[k], float64(v))
			}
		}
		for k, values := range c.Deciles {
			for i, v := range values {
				below := 0
				for _, x := range sides[k] {
					if x < v {
						below++
					}
				}
				p := c.Below[k][i]
				require.InDelta(t, p, float64(below)/n, 5*math.Sqrt(p*(1-p)*(1./n+1./20000))+1./n, "%d x %d: side %d, decile %d", c.H, c.W, k, i)
			}
		}
	}
}

// wildImage enables every random augmentation of ImageIter.
var wildImage = map[string]any{
	"batch_size": 4, "data_shape": []any{3, 20, 28}, "rand_crop": true, "rand_resize": true, "rand_mirror": true, "inter_method": 10,
	"brightness": 0.2, "contrast": 0.2, "saturation": 0.2, "hue": 0.1, "pca_noise": 0.1, "rand_gray": 0.3, "mean": true, "shuffle": true,
}

// TestImageIterRandom checks that random numbers depend only on seed, epoch and
// position, not on threads or batches.
func TestImageIterRandom(t *testing.T) {
	folder := t.TempDir()
	packSources(t, folder, imageFiles, 1)
	epochs := func(change func(p *ImageIterParams)) (images []map[int64]string, orders [][]int64) {
		p := caseParams(t, folder, "idx", imageFiles, wildImage)
		p.Seed = 5
		change(&p)
		it, err := NewImageIter(t.Context(), p)
		require.NoError(t, err)
		for e := range 2 {
			if e > 0 {
				require.NoError(t, it.Reset())
			}
			m, order := byID(t, it, p.BatchSize)
			require.Len(t, m, len(imageFiles), "every image once")
			images, orders = append(images, m), append(orders, order)
		}
		require.NoError(t, it.Close())
		return images, orders
	}
	want, orders := epochs(func(*ImageIterParams) {})
	require.NotEqual(t, want[0], want[1])
	require.NotEqual(t, orders[0], orders[1])
	for _, c := range []struct{ threads, size int }{{1, 4}, {2, 13}, {8, 5}, {0, 40}} {
		got, order := epochs(func(p *ImageIterParams) { p.Threads, p.BatchSize = c.threads, c.size })
		require.Equal(t, want, got, "%+v", c)
		require.Equal(t, orders, order, "%+v", c)
	}
	got, order := epochs(func(p *ImageIterParams) { p.Seed = 6 })
	require.NotEqual(t, want, got)
	require.NotEqual(t, orders, order)
	got, order = epochs(func(p *ImageIterParams) { p.Shuffle = false })
	require.NotEqual(t, got[0], got[1])
	require.Equal(t, order[0], order[1])
}

func TestImageIterParams(t *testing.T) {
	good := map[string]string{"path_imgrec": "x.rec", "data_shape": "(3, 24, 32)", "batch_size": "4"}
	for _, c := range []struct {
		change map[string]string
		says   string
	}{
		{map[string]string{"path_imgrecs": "x"}, `unknown parameter "path_imgrecs"; did you mean "path_imgrec"?`},
		{map[string]string{"rand_mirror_prob": "x"}, `unknown parameter "rand_mirror_prob"; did you mean "rand_mirror"?`},
		{map[string]string{"path_imgrec": ""}, "path_imgrec is missing, want a record file, or path_imglist or imglist with path_root"},
		{map[string]string{"path_imgrec": "", "path_imglist": "x.lst"}, "path_root is missing, want the folder of the images"},
		{map[string]string{"shuffle": "True"}, "path_imgidx is missing, want the .idx file of path_imgrec: shuffle, num_parts and path_imglist need it"},
		{map[string]string{"num_parts": "2"}, "path_imgidx is missing"},
		{map[string]string{"path_imglist": "x.lst"}, "path_imgidx is missing"},
		{map[string]string{"data_shape": "(1, 24, 32)"}, "data_shape = (1, 24, 32), want 3, height and width, as in (3, 224, 224)"},
		{map[string]string{"batch_size": "0"}, "batch_size is missing, want 1 to 1048576"},
		{map[string]string{"label_width": "0"}, "label_width = 0, want 1 to 1048576"},
		{map[string]string{"part_index": "1"}, "part_index = 1, want 0 to num_parts - 1"},
		{map[string]string{"last_batch_handle": "keep"}, `last_batch_handle = "keep", want pad, discard or roll_over`},
		{map[string]string{"rand_resize": "True"}, "rand_resize = true, want False without rand_crop"},
		{map[string]string{"mean": "(1, 2)"}, "mean = [1 2], want None, True, one number or three"},
		{map[string]string{"mean": "False"}, `mean = "False", want None, True, one number or three`},
		{map[string]string{"std": "(1, 2, 0)"}, "std = [1 2 0], want None, True, one number or three, none of them 0"},
		{map[string]string{"inter_method": "7"}, "inter_method = 7, want 0 to 4, 9 or 10"},
		{map[string]string{"dtype": "float16"}, "dtype = float16, want float32, int32, int64 or float64"},
		{map[string]string{"brightness": "-1"}, "brightness = -1, want 0 to 1000"},
		{map[string]string{"rand_gray": "1.5"}, "rand_gray = 1.5, want 0 to 1"},
		{map[string]string{"data_name": "softmax_label"}, `data_name = "softmax_label", want a name other than label_name`},
		{map[string]string{"imglist": "[1]"}, `imglist = "[1]", want no list with path_imgrec or path_imglist`},
		{map[string]string{"aug_list": "[1]"}, `aug_list = "[1]", want ops`},
	} {
		args := merged(good, c.change)
		_, err := ParseImageIterParams(args)
		require.ErrorIs(t, err, ErrParam, "%v", c.change)
		require.ErrorContains(t, err, "mxnet: ImageIter: "+c.says)
	}
	p, err := ParseImageIterParams(merged(good, map[string]string{"mean": "True", "std": "(1, 2, 3)", "imglist": "None", "aug_list": "None"}))
	require.NoError(t, err)
	require.Equal(t, []float64{123.68, 116.28, 103.53}, p.Mean)
	require.Equal(t, []float64{1, 2, 3}, p.Std)
	p.ImgList = []ImageItem{{[]float32{1}, "x"}}
	require.ErrorContains(t, p.Validate(), "imglist = [{[1] x}], want no list with path_imgrec")
	p.ImgList, p.AugList = nil, []transforms.Op{&transforms.Resize{}}
	require.ErrorContains(t, p.Validate(), "aug_list = op 0, want a valid op: ")
}

func TestImageIterErrors(t *testing.T) {
	folder := t.TempDir()
	files := []string{"jpeg_base_420.jpg", "png_rgb8.png", "jpeg_gray.jpg"}
	packSources(t, folder, files, 2)
	outside := filepath.Join(folder, "..", "outside.jpg")
	require.NoError(t, os.WriteFile(outside, []byte("x"), 0o600))
	fails := func(source string, change func(p *ImageIterParams)) error {
		p := caseParams(t, folder, source, files, map[string]any{"batch_size": 2, "data_shape": []any{3, 8, 8}, "label_width": 2.})
		change(&p)
		it, err := NewImageIter(t.Context(), p)
		for err == nil {
			if _, err = it.Next(t.Context()); err != nil {
				require.NoError(t, it.Close())
			}
		}
		return err
	}
	for _, source := range []string{"rec", "idx", "lst", "imglist", "idx+lst"} {
		require.Equal(t, io.EOF, fails(source, func(*ImageIterParams) {}))
	}
	require.ErrorContains(t, fails("rec", func(p *ImageIterParams) { p.LabelWidth = 3 }), "x.rec@0: 2 labels, want label_width = 3")
	require.ErrorIs(t, fails("rec", func(p *ImageIterParams) { p.PathImgRec += "x" }), os.ErrNotExist)
	require.ErrorIs(t, fails("lst", func(p *ImageIterParams) { p.PathImgList += "x" }), os.ErrNotExist)
	require.ErrorContains(t, fails("imglist", func(p *ImageIterParams) { p.ImgList[1].Path = "none.jpg" }), "none.jpg")
	err := fails("imglist", func(p *ImageIterParams) {
		p.PathRoot, p.ImgList = folder, []ImageItem{{[]float32{1}, "../outside.jpg"}}
	})
	require.ErrorIs(t, err, store.ErrOutside)
	require.ErrorContains(t, fails("imglist", func(p *ImageIterParams) { p.PathRoot, p.ImgList = folder, []ImageItem{{[]float32{1, 2}, "x.lst"}} }), "x.lst")
	list := filepath.Join(folder, "y.lst")
	require.NoError(t, os.WriteFile(list, []byte("3\t1.5\ta\n3\t1\tb\n"), 0o600))
	require.ErrorContains(t, fails("lst", func(p *ImageIterParams) { p.PathImgList = list }), "index 3 appears twice, want distinct ones")
	require.NoError(t, os.WriteFile(list, []byte("3\t1.5\ta\n"), 0o600))
	require.ErrorContains(t, fails("idx", func(p *ImageIterParams) { p.PathImgList = list }), "key 23 of the index is not in "+list)
	require.ErrorContains(t, fails("rec", func(p *ImageIterParams) { p.DataShape = tensor.Dims(3, 1, 2000) }), "too narrow for data_shape")
}

// TestImageAugList checks ops in place of the parameters' augmenters.
func TestImageAugList(t *testing.T) {
	folder := t.TempDir()
	files := []string{"jpeg_base_420.jpg", "png_rgb8.png"}
	packSources(t, folder, files, 1)
	images := func(ops ...transforms.Op) []float32 {
		p := caseParams(t, folder, "rec", files, map[string]any{"batch_size": 2, "data_shape": []any{3, 20, 28}})
		p.AugList = ops
		it, err := NewImageIter(t.Context(), p)
		require.NoError(t, err)
		b, err := it.Next(t.Context())
		require.NoError(t, err)
		got := slices.Clone(tensor.View[float32](b.Data[0]))
		require.NoError(t, it.Close())
		return got
	}
	crop := transforms.NewCenterCrop(20, 28)
	want := images(crop)
	for i := range want {
		want[i] *= 2
	}
	require.Equal(t, want, images(crop, transforms.NewToType(tensor.Float32), transforms.NewMultiply(2)))

	p := caseParams(t, folder, "rec", files, map[string]any{"batch_size": 2, "data_shape": []any{3, 20, 28}})
	p.AugList = []transforms.Op{transforms.NewCenterCrop(20, 20)}
	it, err := NewImageIter(t.Context(), p)
	require.NoError(t, err)
	_, err = it.Next(t.Context())
	require.ErrorContains(t, err, "x.rec@0: float32 (3, 20, 20) in a batch of float32 (2, 3, 20, 28)")
	require.NoError(t, it.Close())
}

func TestImageIterAllocations(t *testing.T) {
	folder := t.TempDir()
	files := slices.Repeat([]string{"jpeg_base_420.jpg"}, 300)
	packSources(t, folder, files, 1)
	p := caseParams(t, folder, "idx", files, map[string]any{"batch_size": 10, "data_shape": []any{3, 20, 28}, "resize": 40, "rand_crop": true, "contrast": 0.1, "mean": true})
	it, err := NewImageIter(t.Context(), p)
	require.NoError(t, err)
	for range 5 {
		_, err := it.Next(t.Context())
		require.NoError(t, err)
	}
	per := testing.AllocsPerRun(20, func() {
		if _, err := it.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	require.LessOrEqual(t, per, fewAllocations(), "10 images, with a key each")
	require.NoError(t, it.Close())
}
