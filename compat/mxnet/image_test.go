package mxnet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestImageParamNames checks the names and defaults of MXNet's 61 parameters
// and rotate_list.
func TestImageParamNames(t *testing.T) {
	g := readImageGolden(t)
	require.Len(t, g.Params, 61)
	require.Len(t, imageParamSet.fields, 62)
	v := reflect.ValueOf(DefaultImageRecordParams())
	for _, p := range g.Params {
		i, ok := imageParamSet.fields[*p[0]]
		require.True(t, ok, "%s", *p[0])
		f := v.FieldByIndex(i)
		if p[1] == nil { // required
			require.True(t, f.IsZero(), *p[0])
			continue
		}
		var want string
		switch x := f.Interface().(type) {
		case bool:
			want = map[bool]string{true: "1", false: "0"}[x]
		case *int64, *float32:
			require.True(t, f.IsNil())
			want = "None"
		case float32:
			want = strings.Replace(strconv.FormatFloat(float64(x), 'g', -1, 32), "1e+10", "1e+10", 1)
		case tensor.DType:
			require.Equal(t, tensor.Float32, x)
			want = "None"
		default:
			want = fmt.Sprint(x)
		}
		require.Equal(t, *p[1], want, *p[0])
	}
}

func TestImageParams(t *testing.T) {
	good := map[string]string{"path_imgrec": "x.rec", "data_shape": "(3, 24, 32)", "batch_size": "4"}
	all := map[string]string{
		"seed_aug": "7", "min_aspect_ratio": "0.5", "max_aspect_ratio": "2", "shuffle": "True", "shuffle_chunk_size": "64", "rotate_list": "10, -20",
		"scale": "0.5", "dtype": "int8", "ctx": "cpu", "device_id": "-1", "verbose": "False", "round_batch": "0",
	}
	for k, v := range good {
		all[k] = v
	}
	p, err := ParseImageRecordParams(all)
	require.NoError(t, err)
	want := DefaultImageRecordParams()
	seed, least := int64(7), float32(0.5)
	want.PathImgRec, want.DataShape, want.BatchSize = "x.rec", tensor.Dims(3, 24, 32), 4
	want.SeedAug, want.MinAspectRatio, want.MaxAspectRatio, want.Shuffle, want.ShuffleChunkSize = &seed, &least, 2, true, 64
	want.RotateList, want.Scale, want.DType, want.Context, want.DeviceID, want.Verbose, want.RoundBatch = "10, -20", 0.5, tensor.Int8, "cpu", -1, false, false
	require.Equal(t, want, p)
	for _, c := range []struct{ name, value, says string }{
		{"path_imgrecs", "", `unknown parameter "path_imgrecs"; did you mean "path_imgrec"?`},
		{"random_mirror", "1", `did you mean "rand_mirror"?`},
		{"Mean_R", "1", `did you mean "mean_r"?`},
		{"path_imgrec", "", "path_imgrec is missing"},
		{"data_shape", "(2,4,4)", "data_shape = (2, 4, 4), want channels (1, 3 or 4)"},
		{"data_shape", "(24,32)", "want channels"},
		{"data_shape", "(3,x)", `data_shape = "(3,x)"`},
		{"batch_size", "0", "batch_size is missing"},
		{"batch_size", "-2", "batch_size = -2"},
		{"label_width", "0", "label_width = 0, want 1 to"},
		{"num_parts", "0", "num_parts = 0"},
		{"part_index", "1", "part_index = 1, want 0 to num_parts - 1"},
		{"part_index", "-1", "part_index = -1"},
		{"aug_seq", "det_aug_default", `aug_seq = "det_aug_default", want aug_default`},
		{"shuffle_chunk_size", "4", "want 0, or with shuffle"},
		{"resize", "0", "resize = 0"},
		{"rotate_list", "10,x", "want comma-separated whole degrees"},
		{"max_aspect_ratio", "1.5", "max_aspect_ratio = 1.5"},
		{"min_aspect_ratio", "1.5", "max_aspect_ratio = 0, want 0 to 1; with min_aspect_ratio"},
		{"min_aspect_ratio", "0", "min_aspect_ratio = 0"},
		{"min_aspect_ratio", "x", `min_aspect_ratio = "x"`},
		{"max_crop_size", "5", "min_crop_size = -1, want -1 and -1, or 1"},
		{"max_random_scale", "0.5", "min_random_scale = 1, want 0.001 to max_random_scale"},
		{"min_random_area", "0", "min_random_area = 0"},
		{"max_img_size", "0", "max_img_size = 0"},
		{"inter_method", "7", "inter_method = 7, want 0 to 4, 9 or 10"},
		{"brightness", "-1", "brightness = -1, want 0 to"},
		{"random_h", "181", "random_h = 181, want 0 to 180"},
		{"fill_value", "256", "fill_value = 256"},
		{"pad", "-1", "pad = -1"},
		{"std_g", "0", "std_g = 0, want a number other than 0"},
		{"scale", "nan", "scale = NaN, want a finite number"},
		{"scale", "0x1p2", `scale = "0x1p2", want a number`},
		{"preprocess_threads", "-1", "preprocess_threads = -1"},
		{"prefetch_buffer", "4000", "prefetch_buffer = 4000"},
		{"ctx", "tpu", `ctx = "tpu", want cpu or gpu`},
		{"dtype", "float64", "dtype = float64, want None, float32, uint8 or int8"},
		{"shuffle", "maybe", `shuffle = "maybe", want True or False`},
		{"seed", "1.5", `seed = "1.5", want a whole number`},
	} {
		args := map[string]string{c.name: c.value}
		for k, v := range good {
			if _, ok := args[k]; !ok {
				args[k] = v
			}
		}
		_, err := ParseImageRecordParams(args)
		var e *ParamError
		require.ErrorAs(t, err, &e, "%s=%s", c.name, c.value)
		require.ErrorContains(t, err, c.says)
	}
	for _, args := range []map[string]string{
		{"inter_method": "0", "rotate": "10"},
		{"data_shape": "(1, 4, 4)", "saturation": "0.5"},
		{"data_shape": "(4, 4, 4)", "random_l": "5"},
		{"random_resized_crop": "1", "rand_crop": "1"},
		{"random_resized_crop": "1", "min_random_scale": "0.5"},
		{"random_resized_crop": "1", "max_crop_size": "5", "min_crop_size": "5"},
	} {
		for k, v := range good {
			if _, ok := args[k]; !ok {
				args[k] = v
			}
		}
		_, err := ParseImageRecordParams(args)
		require.ErrorIs(t, err, ErrParam, "%v", args)
	}
	p.LastBatch = "rollover"
	require.ErrorContains(t, p.Validate(), `LastBatch = "rollover", want pad, zero`)
}

var imageFiles = []string{
	"jpeg_base_420.jpg", "jpeg_base_444.jpg", "jpeg_gray.jpg", "jpeg_restart_1.jpg", "jpeg_optimized.jpg", "png_rgb8.png", "png_gray8.png",
	"jpeg_base_422.jpg", "png_p8.png", "jpeg_prog_420.jpg", "jpeg_rgb.jpg", "png_rgba8.png", "jpeg_comments.jpg",
}

// wild enables every random augmentation.
var wild = map[string]any{
	"data_shape": []any{3, 20, 28}, "batch_size": 4, "rand_crop": true, "rand_mirror": true, "max_random_contrast": 0.5, "max_random_illumination": 20,
	"mean_r": 100, "std_g": 3, "inter_method": 10, "resize": 33, "pad": 3, "shuffle": true, "seed": 5,
	"max_rotate_angle": 15, "max_shear_ratio": 0.1, "min_random_scale": 0.9, "max_random_scale": 1.2, "max_aspect_ratio": 0.1,
	"brightness": 0.2, "contrast": 0.2, "saturation": 0.2, "random_h": 10, "random_s": 10, "random_l": 10, "pca_noise": 0.1,
}

// byID returns the images of an epoch by id, without padding, and their order.
func byID(t *testing.T, it DataIter, size int) (map[int64]string, []int64) {
	t.Helper()
	images := map[int64]string{}
	var order []int64
	batches, index := imagesOf(t, it)
	for i, b := range batches {
		n := len(b.Images) - b.Pad
		require.Len(t, index[i], len(b.Images))
		for k := range n {
			w := len(b.Labels) / len(b.Images)
			images[index[i][k]] = fmt.Sprint(b.Images[k], b.Labels[k*w:][:w])
		}
		order = append(order, index[i][:n]...)
	}
	return images, order
}

// TestImageRandom checks that random numbers depend only on seed, epoch and
// position, not on threads or batches.
func TestImageRandom(t *testing.T) {
	folder := t.TempDir()
	packImages(t, folder, imageFiles, 1)
	type result struct {
		images []map[int64]string
		orders [][]int64
	}
	epochs := func(change func(p *ImageRecordParams)) (r result) {
		p := imageParams(t, folder, wild)
		change(&p)
		it, err := NewImageRecordIter(t.Context(), p)
		require.NoError(t, err)
		for e := range 3 {
			if e > 0 {
				require.NoError(t, it.Reset())
			}
			images, order := byID(t, it, p.BatchSize)
			r.images, r.orders = append(r.images, images), append(r.orders, order)
			require.Len(t, order, len(imageFiles))
			require.Len(t, images, len(imageFiles), "every record once")
		}
		require.NoError(t, it.Close())
		return r
	}
	want := epochs(func(p *ImageRecordParams) { p.Context = "cpu" })
	require.NotEqual(t, want.orders[0], want.orders[1])
	require.NotEqual(t, want.images[0], want.images[1])
	several := []struct{ threads, size int }{{3, 5}, {1, 1}, {0, 4}, {2, 13}, {8, 40}}
	for _, c := range several[:short.Rounds(t, len(several), 2)] {
		require.Equal(t, want, epochs(func(p *ImageRecordParams) { p.PreprocessThreads, p.BatchSize = c.threads, c.size }), "%+v", c)
	}
	seed := int64(3)
	aug := epochs(func(p *ImageRecordParams) { p.SeedAug = &seed })
	require.Equal(t, want.orders, aug.orders, "seed_aug does not change the order")
	require.NotEqual(t, want.images, aug.images)
	require.NotEqual(t, aug.images[0], aug.images[1])
	require.NotEqual(t, want.orders, epochs(func(p *ImageRecordParams) { p.Seed = 6 }).orders)
	require.NotEqual(t, want.orders, epochs(func(p *ImageRecordParams) { p.ShuffleChunkSize, p.ShuffleChunkSeed = 4, 1 }).orders)
	plain := epochs(func(p *ImageRecordParams) { p.Shuffle = false })
	require.Equal(t, plain.orders[0], plain.orders[1])
	require.True(t, slices.IsSorted(plain.orders[0]))
	require.NotEqual(t, plain.images[0], plain.images[1], "each epoch draws anew")
}

// TestImageParts checks that the parts together contain every record once.
func TestImageParts(t *testing.T) {
	folder := t.TempDir()
	packImages(t, folder, imageFiles, 1)
	for parts := 1; parts <= 17; parts++ {
		for _, index := range []bool{false, true} {
			var all []int64
			for k := range parts {
				p := imageParams(t, folder, map[string]any{"data_shape": []any{3, 8, 8}, "batch_size": 3, "dtype": "uint8", "ctx": "cpu"})
				p.NumParts, p.PartIndex = parts, k
				if index {
					p.PathImgIdx = filepath.Join(folder, "x.idx")
				}
				it, err := NewImageRecordIter(t.Context(), p)
				require.NoError(t, err)
				_, order := byID(t, it, 3)
				all = append(all, order...)
				require.NoError(t, it.Close())
			}
			require.Len(t, all, len(imageFiles))
			for i, id := range all {
				require.Equal(t, int64(10*i+3), id)
			}
		}
	}
}

// TestImagePads checks the pad of every batch for all sizes and ends.
func TestImagePads(t *testing.T) {
	folder := t.TempDir()
	const n = 13
	packImages(t, folder, slices.Repeat([]string{"png_gray1.png"}, n), 2)
	var ids []int64
	for i := range n {
		ids = append(ids, int64(10*i+3))
	}
	contexts := []string{"cpu", "gpu"}
	contexts = contexts[:short.Rounds(t, 2, 1)]
	for _, how := range []string{"", "pad", "zero", "discard", "roll_over", "short"} {
		for _, size := range []int{1, 4, 5, 12, 13, 14, 30} {
			for _, context := range contexts {
				p := imageParams(t, folder, map[string]any{"data_shape": []any{3, 4, 4}, "batch_size": size, "label_width": 2, "ctx": context})
				p.LastBatch = how
				it, err := NewImageRecordIter(t.Context(), p)
				require.NoError(t, err)
				require.Equal(t, fmt.Sprintf("DataDesc[softmax_label,(%d, 2),float32,NCHW]", size), it.ProvideLabel()[0].String())
				waiting := []int64{} // rows carried over
				for e := range 4 {
					if e > 0 {
						require.NoError(t, it.Reset())
					}
					rest := append(waiting, ids...)
					waiting = nil
					for {
						b, err := it.Next(t.Context())
						if err == io.EOF {
							break
						}
						require.NoError(t, err)
						rows, data := b.Data[0].Shape.At(0), tensor.View[float32](b.Data[0])
						require.Equal(t, tensor.Dims(rows, 3, 4, 4), b.Data[0].Shape)
						real := min(size, len(rest))
						want := slices.Clone(rest[:real])
						rest = rest[real:]
						if how == "short" {
							require.Equal(t, real, rows)
							require.Zero(t, b.Pad)
						} else {
							require.Equal(t, size, rows)
							require.Equal(t, size-real, b.Pad)
						}
						for k := real; k < rows; k++ {
							switch how {
							case "", "pad":
								want = append(want, ids[(k-real)%n])
							case "zero":
								want = append(want, -1)
								require.Equal(t, make([]float32, 48), data[48*k:][:48])
							default:
								require.Fail(t, "a short batch")
							}
						}
						require.Equal(t, want, b.Index)
						for k, id := range want {
							if l := tensor.View[float32](b.Label[0])[2*k:]; id >= 0 {
								require.Equal(t, []float32{float32(id / 10), float32(id/10) + 0.25}, l[:2])
							}
						}
					}
					switch how {
					case "discard":
						require.Len(t, rest, n%size)
					case "roll_over":
						require.Less(t, len(rest), size)
						waiting = rest
					default:
						require.Empty(t, rest)
					}
				}
				require.NoError(t, it.Close())
			}
		}
	}
}

// TestImageErrors checks that errors name what can't be read.
func TestImageErrors(t *testing.T) {
	folder := t.TempDir()
	packImages(t, folder, imageFiles[:3], 1)
	base := map[string]any{"data_shape": []any{3, 8, 8}, "batch_size": 2, "dtype": "uint8"}
	fails := func(p ImageRecordParams) error {
		for _, c := range []string{"cpu", "gpu"} {
			p.Context = c
			it, err := NewImageRecordIter(t.Context(), p)
			if err != nil {
				return err
			}
			for err == nil {
				_, err = it.Next(context.Background())
			}
			require.NoError(t, it.Close())
			if c == "gpu" {
				return err
			}
		}
		return nil
	}
	p := imageParams(t, folder, base)
	require.Equal(t, io.EOF, fails(p))

	q := p
	q.PathImgRec = filepath.Join(folder, "none.rec")
	require.ErrorIs(t, fails(q), dataset.ErrData)
	q = p
	q.LabelWidth = 2
	require.ErrorContains(t, fails(q), "x.rec@0: 1 labels, want 2")
	q = p
	q.PathImgList = filepath.Join(folder, "y.lst")
	require.NoError(t, os.WriteFile(q.PathImgList, []byte("3\t1.5\ta\n23\t1\tb\n"), 0o600))
	require.ErrorContains(t, fails(q), "id 13 is not in "+q.PathImgList)
	require.NoError(t, os.WriteFile(q.PathImgList, []byte("3\t1.5\ta\n3\t1\tb\n"), 0o600))
	require.ErrorContains(t, fails(q), "id 3 appears twice, want distinct ids")
	q.LabelWidth = 2
	require.ErrorContains(t, fails(q), "id 3 has 1 labels, want 2")
	q = p
	q.DataShape = tensor.Dims(4, 8, 8)
	require.ErrorContains(t, fails(q), "x.rec@0")
	require.ErrorContains(t, fails(q), "without alpha")
	q = p
	q.MinCropSize, q.MaxCropSize = 60, 60
	require.ErrorContains(t, fails(q), "smaller than max_crop_size")

	// One invalid image between two valid ones.
	b, err := os.ReadFile(p.PathImgRec)
	require.NoError(t, err)
	f, err := os.Create(filepath.Join(folder, "bad.rec"))
	require.NoError(t, err)
	w, err := recordio.NewWriter(f, 0)
	require.NoError(t, err)
	r := recordio.NewBytes(b, recordio.Options{})
	at := int64(0)
	for i := range 3 {
		record, err := r.Next()
		require.NoError(t, err)
		if i == 1 {
			at = w.Offset()
			record = (&imagerecord.Record{Labels: []float32{1}, ID: 13, Content: []byte("no image at all")}).Append(nil)
		}
		require.NoError(t, w.Write(record))
	}
	require.NoError(t, f.Close())
	q = p
	q.PathImgRec = f.Name()
	require.ErrorContains(t, fails(q), fmt.Sprintf("bad.rec@%d", at))
}

func TestMeanImage(t *testing.T) {
	theirs, err := os.ReadFile("testdata/mean.bin")
	require.NoError(t, err)
	shape := tensor.Dims(3, 20, 24)
	mean, err := parseMean(theirs, shape)
	require.NoError(t, err)
	require.Equal(t, theirs, appendMean(nil, mean))
	for n := range theirs {
		_, err := parseMean(theirs[:n], shape)
		require.ErrorIs(t, err, dataset.ErrData, "%d bytes", n)
	}
	_, err = parseMean(append(slices.Clone(theirs), 0), shape)
	require.ErrorIs(t, err, dataset.ErrData)
	_, err = parseMean(theirs, tensor.Dims(3, 24, 20))
	require.ErrorContains(t, err, "an image of [3 20 24], want (3, 24, 20)")
	for i := range 72 { // bytes of the header: no value may panic
		for bit := range 8 {
			b := slices.Clone(theirs)
			b[i] ^= 1 << bit
			if _, err := parseMean(b, shape); err != nil {
				require.ErrorIs(t, err, dataset.ErrData)
			}
		}
	}
	np := slices.Clone(theirs)
	np[24]++
	_, err = parseMean(np, shape)
	require.NoError(t, err, "an array of NumPy's shapes")

	folder := t.TempDir()
	packImages(t, folder, imageFiles, 1)
	p := imageParams(t, folder, map[string]any{"data_shape": []any{3, 8, 8}, "batch_size": 2, "mean_img": "", "rand_crop": true, "dtype": "int8"})
	it, err := NewImageRecordIter(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, it.Close())
	made, err := os.ReadFile(p.MeanImg)
	require.NoError(t, err)
	m, err := parseMean(made, p.DataShape)
	require.NoError(t, err)
	for i, v := range tensor.View[float32](m) {
		require.True(t, v >= 0 && v <= 255 && !math.IsNaN(float64(v)), "%d: %v", i, v)
	}
	p.DataShape = tensor.Dims(3, 8, 9)
	_, err = NewImageRecordIter(t.Context(), p)
	require.ErrorContains(t, err, "mean_img "+p.MeanImg)
	p.MeanImg = filepath.Join(folder, "none", "x.bin")
	_, err = NewImageRecordIter(t.Context(), p)
	require.Error(t, err)
	p.DType = tensor.Uint8 // ignores the mean image
	it, err = NewImageRecordIter(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, it.Close())
}

func TestImageDTypes(t *testing.T) {
	folder := t.TempDir()
	packImages(t, folder, imageFiles, 1)
	p := imageParams(t, folder, map[string]any{"data_shape": []any{1, 8, 9}, "batch_size": 2, "mean_r": 127.5})
	for _, c := range []struct {
		open func(context.Context, ImageRecordParams) (*ImageRecordIter, error)
		want string
	}{
		{NewImageRecordIter, "DataDesc[data,(2, 1, 8, 9),float32,NCHW]"},
		{NewImageRecordUInt8Iter, "DataDesc[data,(2, 1, 8, 9),uint8,NCHW]"},
		{NewImageRecordInt8Iter, "DataDesc[data,(2, 1, 8, 9),int8,NCHW]"},
	} {
		it, err := c.open(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, []string{c.want, "DataDesc[softmax_label,(2,),float32,NCHW]"}, describeAll(it))
		b, err := it.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, it.ProvideData()[0].DType, b.Data[0].DType)
		require.NoError(t, it.Close())
	}
}

// drawn passes the ops that aug_default draws for a 60 x 80 image to see.
func drawn(t *testing.T, params map[string]any, times int, see func(ops []transforms.Op)) {
	t.Helper()
	params["batch_size"] = 1
	p := imageParams(t, "", params)
	o := newAugment(&p)
	d := transforms.NewDraw(&transforms.Context{})
	key := rng.NewKey(1, 2, "x")
	for i := range times {
		d.Begin()
		in := []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 60, 80, 3)}
		ops, err := d.Run(o, key.At(uint64(i)), in, nil)
		require.NoError(t, err)
		require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, 20, 30, 3), in[0])
		see(ops)
	}
}

// TestImageDraws checks that random values stay within their bounds, reach
// them, and are drawn in MXNet's order.
func TestImageDraws(t *testing.T) {
	shape := []any{3, 20, 30}
	t.Run("rand_crop", func(t *testing.T) {
		seen := map[[2]int]int{}
		drawn(t, map[string]any{"data_shape": shape, "rand_crop": true}, 20000, func(ops []transforms.Op) {
			c := ops[0].(*transforms.Crop)
			require.Len(t, ops, 1)
			require.Equal(t, transforms.Crop{Top: c.Top, Left: c.Left, Height: 20, Width: 30}, *c)
			seen[[2]int{c.Top, c.Left}]++
		})
		require.Greater(t, len(seen), 2000, "of 41 * 51 places")
		for at := range seen {
			require.True(t, at[0] >= 0 && at[0] <= 40 && at[1] >= 0 && at[1] <= 50)
		}
	})
	t.Run("random_resized_crop", func(t *testing.T) {
		turned, plain, areas := 0, 0, [2]float64{9, 0}
		drawn(t, map[string]any{
			"data_shape": shape, "random_resized_crop": true, "min_random_area": 0.1, "max_random_area": 0.9, "min_aspect_ratio": 0.5, "max_aspect_ratio": 2,
		}, 5000, func(ops []transforms.Op) {
			require.Len(t, ops, 1)
			c, ok := ops[0].(*transforms.ResizedCrop)
			if !ok {
				require.Equal(t, transforms.Crop{Top: 20, Left: 25, Height: 20, Width: 30}, *ops[0].(*transforms.Crop))
				plain++
				return
			}
			require.True(t, c.Top >= 0 && c.Left >= 0 && c.Top+c.Height <= 60 && c.Left+c.Width <= 80, "%+v", c)
			require.Equal(t, transforms.ResizedCrop{
				Top: c.Top, Left: c.Left, Height: c.Height, Width: c.Width, OutHeight: 20, OutWidth: 30, Interpolation: transforms.Bilinear, Backend: transforms.OpenCV,
			}, *c)
			area := float64(c.Height*c.Width) / 4800
			areas = [2]float64{min(areas[0], area), max(areas[1], area)}
			ratio := float64(c.Width) / float64(c.Height)
			require.True(t, ratio > 0.45 && ratio < 2.2, "%+v", c)
			if c.Height > c.Width {
				turned++
			}
		})
		require.InDelta(t, 0.1, areas[0], 0.01)
		require.InDelta(t, 0.9, areas[1], 0.02)
		require.Greater(t, turned, 1000)
		require.Less(t, plain, 100)
		drawn(t, map[string]any{"data_shape": shape, "random_resized_crop": true}, 10, func(ops []transforms.Op) {
			require.Equal(t, transforms.Crop{Top: 20, Left: 25, Height: 20, Width: 30}, *ops[0].(*transforms.Crop), "nothing varies")
		})
	})
	t.Run("crop sizes", func(t *testing.T) {
		sides := map[int]int{}
		drawn(t, map[string]any{"data_shape": shape, "min_crop_size": 40, "max_crop_size": 44, "inter_method": 10}, 5000, func(ops []transforms.Op) {
			c := ops[0].(*transforms.ResizedCrop)
			require.Equal(t, [4]int{(60 - c.Height) / 2, (80 - c.Height) / 2, c.Height, c.Height}, [4]int{c.Top, c.Left, c.Height, c.Width})
			sides[100*c.Height+int(c.Interpolation)]++
		})
		require.Len(t, sides, 25, "5 sides, 5 interpolations")
		for s, n := range sides {
			require.InDelta(t, 200, n, 70, "%d", s)
		}
	})
	t.Run("affine", func(t *testing.T) {
		var least, most [2]int = [2]int{999, 999}, [2]int{}
		drawn(t, map[string]any{
			"data_shape": shape, "max_rotate_angle": 20, "max_shear_ratio": 0.1, "min_random_scale": 0.8, "max_random_scale": 1.5, "max_aspect_ratio": 0.25,
			"max_img_size": 100, "min_img_size": 55,
		}, 5000, func(ops []transforms.Op) {
			w := ops[0].(*transforms.WarpAffine)
			for i, n := range []int{w.Height, w.Width} {
				least[i], most[i] = min(least[i], n), max(most[i], n)
			}
			m := w.Matrix
			x, y := m[0]*40+m[1]*30+m[2], m[3]*40+m[4]*30+m[5]
			require.InDelta(t, float64(w.Width)/2, x, 0.6, "the centre")
			require.InDelta(t, float64(w.Height)/2, y, 0.6)
		})
		require.Equal(t, [2]int{55, 64}, least)
		require.Equal(t, [2]int{89, 100}, most)
		angles := map[float64]int{}
		drawn(t, map[string]any{"data_shape": shape, "rotate_list": "0,90, 180", "rotate": 5}, 300, func(ops []transforms.Op) {
			angles[math.Round(ops[0].(*transforms.WarpAffine).Matrix[0])]++
		})
		require.Len(t, angles, 3)
	})
	t.Run("colours", func(t *testing.T) {
		orders := map[string]int{}
		var hls [2]int
		drawn(t, map[string]any{
			"data_shape": shape, "brightness": 0.25, "contrast": 0.5, "saturation": 0.125, "random_h": 18, "random_s": 20, "random_l": 30, "pca_noise": 0.1,
		}, 5000, func(ops []transforms.Op) {
			require.Len(t, ops, 6)
			order := ""
			for _, op := range ops[1:4] {
				switch op := op.(type) {
				case *transforms.AdjustBrightness:
					order += "b"
					require.InDelta(t, 1, op.Factor, 0.25)
				case *transforms.AdjustContrast:
					order += "c"
					require.InDelta(t, 1, op.Factor, 0.5)
				case *transforms.AdjustSaturation:
					order += "s"
					require.InDelta(t, 1, op.Factor, 0.125)
				}
			}
			orders[order]++
			a := ops[4].(*transforms.AdjustHLS)
			require.True(t, max(a.H, -a.H) <= 18 && max(a.S, -a.S) <= 20 && max(a.L, -a.L) <= 30)
			hls = [2]int{min(hls[0], a.L), max(hls[1], a.L)}
			require.IsType(t, &transforms.LightingNoise{}, ops[5])
		})
		require.Len(t, orders, 6)
		require.Less(t, hls[0], -27)
		require.Greater(t, hls[1], 27)
	})
	t.Run("order", func(t *testing.T) {
		drawn(t, map[string]any{"data_shape": shape, "resize": 25, "rotate": 5, "pad": 1}, 1, func(ops []transforms.Op) {
			require.IsType(t, &transforms.Resize{}, ops[0])
			require.IsType(t, &transforms.WarpAffine{}, ops[1])
			require.IsType(t, &transforms.Pad{}, ops[2])
			require.IsType(t, &transforms.Crop{}, ops[3])
		})
	})
}

// TestBoxes checks that MXNet's random numbers lead to MXNet's boxes;
// testdata/gen/ops/mxnet_aug.py generates them.
func TestBoxes(t *testing.T) {
	b, err := os.ReadFile("testdata/boxes.json")
	require.NoError(t, err)
	var cases []struct {
		Height, Width int
		Tries         [][3]any
		Box           []int // top, left, height and width, or none
	}
	require.NoError(t, json.Unmarshal(b, &cases))
	require.Len(t, cases, 288)
	none := 0
	for i, c := range cases {
		for k, try := range c.Tries {
			h, w, ok := box(c.Height, c.Width, float32(try[0].(float64)), float32(try[1].(float64)), try[2].(bool))
			require.Equal(t, c.Box != nil && k == len(c.Tries)-1, ok, "%d: %v", i, try)
			if ok {
				require.Equal(t, c.Box[2:], []int{h, w}, "%d: %v", i, try)
			}
		}
		if c.Box == nil {
			none++
			require.Len(t, c.Tries, 10)
		}
	}
	require.NotZero(t, none)
}

func FuzzMeanImage(f *testing.F) {
	mean, err := tensor.New(tensor.Desc{DType: tensor.Float32, Layout: tensor.CHW, Shape: tensor.Dims(1, 2, 3)})
	require.NoError(f, err)
	file := appendMean(nil, mean)
	f.Add(file)
	f.Add(file[:40])
	theirs, err := os.ReadFile("testdata/mean.bin")
	require.NoError(f, err)
	f.Add(theirs)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseMean(b, mean.Shape)
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrData)
			return
		}
		again, err := parseMean(appendMean(nil, m), mean.Shape)
		require.NoError(t, err)
		require.Equal(t, m.Data, again.Data)
	})
}

// fewAllocations is the limit for a batch of 10 rows, with a key each.
func fewAllocations() float64 {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		return 250 // reading a file that is not mapped allocates
	}
	return 30
}

// TestImageAllocations checks that batches reuse their memory in steady state.
func TestImageAllocations(t *testing.T) {
	folder := t.TempDir()
	packImages(t, folder, slices.Repeat([]string{"jpeg_base_420.jpg"}, 600), 1)
	p := imageParams(t, folder, map[string]any{
		"data_shape": []any{3, 20, 28}, "batch_size": 10, "resize": 40, "rand_crop": true, "rand_mirror": true, "max_random_contrast": 0.5, "mean_r": 100, "ctx": "cpu",
	})
	it, err := NewImageRecordIter(t.Context(), p)
	require.NoError(t, err)
	for range 5 {
		_, err := it.Next(t.Context())
		require.NoError(t, err)
	}
	per := testing.AllocsPerRun(50, func() {
		if _, err := it.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
	require.LessOrEqual(t, per, fewAllocations(), "10 images, with a key each")
	require.NoError(t, it.Close())
}
