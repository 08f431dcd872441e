package mxnet

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// boxesOf returns the label of image i, as the script makes it.
func boxesOf(i, width int) []float32 {
	l := []float32{2, float32(width)}
	if i%2 == 0 {
		l = []float32{4, float32(width), 7, 7}
	}
	for k := range 1 + i*5%4 {
		n := i + 3*k
		class, wide := float32(n%4), float32(6)
		if i%5 == 3 || n%7 == 5 {
			class = -1
		}
		if k > 0 && n%3 == 0 {
			wide = 0
		}
		x, y := float32(n%5), float32(n%7)
		l = append(l, class, x/16, y/16, (x+wide)/16, (y+5)/16)
		for range width - 5 {
			l = append(l, float32(n)/4)
		}
	}
	return l
}

// packBoxes packs images with boxes.
func packBoxes(t *testing.T, folder string, files []string, width int) {
	t.Helper()
	packLabelled(t, folder, files, func(i int) (record, list []float32) { return boxesOf(i, width), boxesOf(i, width) })
	reverseIndex(t, folder)
}

// detParams returns the parameters of a case of ImageDetIter.
func detParams(t *testing.T, folder, source string, files []string, width int, params map[string]any) ImageDetIterParams {
	t.Helper()
	args := map[string]string{}
	for k, v := range params {
		args[k] = pythonText(v)
	}
	list := sourceParams(folder, source, files, func(i int) []float32 { return boxesOf(i, width) }, args)
	p := DefaultImageDetIterParams()
	require.NoError(t, imageDetParamSet.parse(&p, imageNet(args)))
	p.ImgList = list
	require.NoError(t, p.Validate())
	return p
}

func TestImageDetIterAsMXNet(t *testing.T) {
	g := readImageIterGolden(t)
	requireParams(t, imageDetParamSet, DefaultImageDetIterParams(), g.DetParams)
	folders := map[int]string{}
	for _, width := range []int{5, 6} {
		folders[width] = t.TempDir()
		packBoxes(t, folders[width], g.Files, width)
	}
	for n := 0; n < len(g.Det); n += short.Step(t, 3) {
		c := g.Det[n]
		t.Run(c.Name, func(t *testing.T) {
			p := detParams(t, folders[c.Width], c.Source, g.Files, c.Width, c.Params)
			if n%4 == 1 {
				p.Threads = 2
			}
			it, err := NewImageDetIter(t.Context(), p)
			require.NoError(t, err)
			for i, d := range slices.Concat(it.ProvideData(), it.ProvideLabel()) {
				require.Equal(t, c.Desc[i][0], d.Name)
				require.Equal(t, pythonShape(c.Desc[i][1]), d.Shape.String())
			}
			for e, want := range c.Out {
				got, _ := imagesOf(t, it)
				require.Len(t, got, len(want), "epoch %d", e)
				for i := range want {
					if p.LastBatchHandle == "roll_over" {
						want[i].Pad = 0 // MXNet counts the rows carried over, which are not padding
					}
					require.Equal(t, want[i], got[i], "epoch %d, batch %d", e, i)
				}
				require.NoError(t, it.Reset())
			}
			require.NoError(t, it.Close())
			require.NoError(t, it.Close())
		})
	}
}

// TestImageDetReshape changes shapes between epochs.
func TestImageDetReshape(t *testing.T) {
	folder, small := t.TempDir(), t.TempDir()
	packBoxes(t, folder, imageFiles, 5)
	packBoxes(t, small, imageFiles[:2], 5)
	params := map[string]any{"batch_size": 4, "data_shape": []any{3, 20, 28}, "shuffle": true, "brightness": 0.5}
	open := func(folder string, change func(*ImageDetIterParams)) *ImageDetIter {
		p := detParams(t, folder, "idx", imageFiles, 5, params)
		change(&p)
		it, err := NewImageDetIter(t.Context(), p)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, it.Close()) })
		return it
	}
	same := func(*ImageDetIterParams) {}
	// An iterator that is reshaped goes on as one that had the shape before.
	it, want := open(folder, same), open(folder, func(p *ImageDetIterParams) { p.DataShape = tensor.Dims(3, 8, 9) })
	first, _ := imagesOf(t, it)
	require.ErrorContains(t, it.Reshape(t.Context(), tensor.Dims(3, 8, 9), tensor.Shape{}), "ImageDetIter.Reshape: data_shape = (3, 8, 9), want a call before the epoch's first Next")
	require.NoError(t, it.Reset())
	require.NoError(t, it.Reshape(t.Context(), tensor.Dims(3, 8, 9), tensor.Shape{}))
	_, _ = imagesOf(t, want)
	require.NoError(t, want.Reset())
	got, _ := imagesOf(t, it)
	same2, _ := imagesOf(t, want)
	require.Equal(t, same2, got)
	require.NotEqual(t, first, got)
	require.NoError(t, it.Reset())
	for _, c := range []struct {
		data, label tensor.Shape
		says        string
	}{
		{tensor.Dims(1, 8, 8), tensor.Shape{}, "data_shape = (1, 8, 8), want 3, height and width"},
		{tensor.Shape{}, tensor.Dims(3, 5), "label_shape = (3, 5), want 4 objects or more and the width 5"},
		{tensor.Shape{}, tensor.Dims(5, 6), "label_shape = (5, 6), want"},
		{tensor.Shape{}, tensor.Dims(5), "label_shape = (5,), want"},
	} {
		require.ErrorContains(t, it.Reshape(t.Context(), c.data, c.label), c.says)
	}

	train, val := open(folder, same), open(small, same)
	require.Equal(t, tensor.Dims(4, 5), train.LabelShape())
	require.Equal(t, tensor.Dims(2, 5), val.LabelShape())
	require.NoError(t, train.SyncLabelShape(t.Context(), val))
	require.Equal(t, tensor.Dims(4, 5), val.LabelShape())
	require.Equal(t, "DataDesc[label,(4, 4, 5),float32,NCHW]", val.ProvideLabel()[0].String())
	b, err := val.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, tensor.Dims(4, 4, 5), b.Label[0].Shape)
	require.Equal(t, []float32{-1, -1, -1, -1, -1}, tensor.View[float32](b.Label[0])[15:20])
	require.NoError(t, val.HardReset())
	require.NoError(t, val.SyncLabelShape(t.Context(), train))
	require.NoError(t, val.Close())
	require.Equal(t, dataset.ErrClosed, val.Reshape(t.Context(), tensor.Shape{}, tensor.Dims(9, 5)))
}

func TestImageDetErrors(t *testing.T) {
	good := map[string]string{"path_imgrec": "x.rec", "data_shape": "(3, 24, 32)", "batch_size": "4"}
	for _, c := range []struct{ name, value, says string }{
		{"rand_crop", "1.5", "rand_crop = 1.5, want 0 to 1"},
		{"rand_pad", "-1", "rand_pad = -1, want 0 to 1"},
		{"min_object_covered", "[0.1, 2]", "min_object_covered = [0.1 2], want numbers of 0 to 1"},
		{"min_eject_coverage", "-0.5", "min_eject_coverage = [-0.5], want numbers of 0 to 1"},
		{"aspect_ratio_range", "(0, 1)", "aspect_ratio_range = [[0 1]], want numbers of 1e-06 to 1e+06"},
		{"area_range", "(2, 1)", "area_range = [[2 1]], want the lower number first"},
		{"max_attempts", "0", "max_attempts = [0], want numbers of 1 to 1000"},
		{"pad_val", "(1, 2, 3, 4, 5)", "pad_val = [1 2 3 4 5], want one to four numbers"},
		{"pad_val", "1e7", "pad_val = [1e+07], want numbers of -1e+06 to 1e+06"},
		{"rand_resize", "True", `unknown parameter "rand_resize"`},
		{"label_width", "5", `unknown parameter "label_width"`},
		{"area_range", "(1, x)", `area_range = "(1, x)", want two numbers, as in (0.5, 1), or a list of them`},
		{"shuffle", "True", "path_imgidx is missing"},
	} {
		_, err := ParseImageDetIterParams(merged(good, map[string]string{c.name: c.value}))
		require.ErrorIs(t, err, ErrParam)
		require.ErrorContains(t, err, "mxnet: ImageDetIter: "+c.says)
	}
	for _, c := range []struct {
		args map[string]string
		says string
	}{
		{map[string]string{"min_object_covered": "[0.1, 0.2]", "max_attempts": "[1, 2, 3]"}, "min_object_covered = [0.1 0.2], want one value, or as many as other parameters"},
		{map[string]string{"rand_pad": "0.5", "max_attempts": "[1, 2]"}, "max_attempts = [1 2], want one value with rand_pad"},
		{map[string]string{"rand_pad": "0.5", "area_range": "(0.5, 1)"}, "area_range = [[0.5 1]], want a maximum of more than 1 with rand_pad"},
	} {
		_, err := ParseImageDetIterParams(merged(good, c.args))
		require.ErrorIs(t, err, ErrParam)
		require.ErrorContains(t, err, "mxnet: ImageDetIter: "+c.says)
	}
	p, err := ParseImageDetIterParams(merged(good, map[string]string{
		"area_range": "[(0.1, 1), (0.2, 3.5)]", "aspect_ratio_range": "2", "max_attempts": "[3, 4]", "min_object_covered": "[0.1, 0.5]", "pad_val": "(1, 2, 3)",
	}))
	require.NoError(t, err)
	require.Equal(t, [][2]float64{{0.1, 1}, {0.2, 3.5}}, p.AreaRange)
	require.Equal(t, [][2]float64{{2, 2}}, p.AspectRatioRange)
	require.Equal(t, []int{3, 4}, p.MaxAttempts)
	require.Equal(t, []float64{0.1, 0.5}, p.MinObjectCovered)

	box := []float32{0, 0.1, 0.1, 0.5, 0.5}
	join := slices.Concat[[]float32]
	for _, c := range []struct {
		label []float32
		says  string
	}{
		{[]float32{1}, "x.rec@0: a label of 1 numbers, want at least 7"},
		{join([]float32{2, 5}, box[:4]), "a label of 6 numbers"},
		{join([]float32{1, 5}, box), "a header of 1 numbers, want 2 to 7"},
		{join([]float32{9, 5}, box), "a header of 9 numbers"},
		{join([]float32{-1, 5}, box), "a header of -1 numbers"},
		{join([]float32{2, 4}, box), "objects of 4 numbers, want at least 5"},
		{join([]float32{2, 6}, box), "5 numbers after the header, want a multiple of the objects' 6"},
		{join([]float32{2, 5}, []float32{0, 0.5, 0.1, 0.5, 0.5}), "no object with a box, want at least one"},
	} {
		folder := t.TempDir()
		packLabelled(t, folder, imageFiles[:1], func(int) (record, list []float32) { return c.label, c.label })
		p.PathImgRec = filepath.Join(folder, "x.rec")
		_, err := NewImageDetIter(t.Context(), p)
		require.ErrorIs(t, err, dataset.ErrData, c.says)
		require.ErrorContains(t, err, c.says)
	}
	folder := t.TempDir()
	packLabelled(t, folder, imageFiles[:2], func(i int) (record, list []float32) { return boxesOf(i, 5+i), nil })
	p.PathImgRec = filepath.Join(folder, "x.rec")
	_, err = NewImageDetIter(t.Context(), p)
	require.ErrorContains(t, err, ": objects of 6 fields, want 5 as in "+p.PathImgRec+"@0")
	p.PathImgRec, p.ImgList, p.PathRoot = "", []ImageItem{}, folder
	_, err = NewImageDetIter(t.Context(), p)
	require.ErrorContains(t, err, "no images, want at least one")

	p.AugList = []transforms.Op{nil}
	require.ErrorContains(t, p.Validate(), "aug_list = op 0, want a valid op: it is nil")
}

// TestImageDetRandom checks that colour augmentation leaves labels alone, that
// moves do not, and that neither depends on threads.
func TestImageDetRandom(t *testing.T) {
	folder := t.TempDir()
	packBoxes(t, folder, imageFiles, 5)
	epochs := func(threads int, params map[string]any) (l [][]imageBatch) {
		p := detParams(t, folder, "rec", imageFiles, 5, params)
		p.Threads = threads
		it, err := NewImageDetIter(t.Context(), p)
		require.NoError(t, err)
		for range 2 {
			b, _ := imagesOf(t, it)
			l = append(l, b)
			require.NoError(t, it.Reset())
		}
		require.NoError(t, it.Close())
		return l
	}
	plain := map[string]any{"batch_size": 4, "data_shape": []any{3, 20, 28}}
	wild := map[string]any{"batch_size": 4, "data_shape": []any{3, 20, 28}, "brightness": 0.5, "contrast": 0.5, "saturation": 0.5, "hue": 0.2, "pca_noise": 0.1, "rand_gray": 0.5}
	moving := merged(wild, map[string]any{"rand_crop": 0.7, "rand_pad": 0.5, "rand_mirror": true, "resize": 30})
	moved := epochs(0, moving)
	require.Equal(t, moved, epochs(3, moving))
	want, got := epochs(0, plain), epochs(0, wild)
	require.NotEqual(t, want[0][0].Labels, moved[0][0].Labels)
	require.Equal(t, got, epochs(3, wild))
	require.NotEqual(t, got[0], got[1])
	for e := range want {
		for i := range want[e] {
			require.Equal(t, want[e][i].Labels, got[e][i].Labels)
			require.NotEqual(t, want[e][i].Images, got[e][i].Images)
		}
	}
}

func FuzzBoxes(f *testing.F) {
	raw := func(l []float32) (b []byte) {
		for _, v := range l {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		return b
	}
	f.Add(raw(boxesOf(2, 5)))
	f.Add(raw([]float32{2, 5, 0, 0, 0, 1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var l []float32
		for ; len(b) >= 4; b = b[4:] {
			l = append(l, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
		x, err := parseBoxes(l)
		if err != nil {
			return
		}
		n := 0
		x.each(func(o []float32) {
			require.Len(t, o, x.width)
			n++
		})
		require.LessOrEqual(t, x.header+n*x.width, len(l))
	})
}
