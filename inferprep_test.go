package inferprep_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/eager"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/tensor"
	x "github.com/infer-prep/infer-prep/transforms"
)

func file(t testing.TB, name string) *tensor.Tensor {
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return tensor.FromBytes(b)
}

func open(t testing.TB, name string) *inferprep.Preprocessor {
	p, err := inferprep.Open(name)
	require.NoError(t, err)
	return p
}

// plain runs a graph without this package.
func plain(t testing.TB, g *datagraph.Graph, image *tensor.Tensor) []*tensor.Tensor {
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	out, err := plan.NewRunner().Run(image)
	require.NoError(t, err)
	return out
}

func TestRun(t *testing.T) {
	p := open(t, "preset:imagenet")
	image := file(t, "images/jpeg_large.jpg")
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	want := plain(t, g, image)
	out := map[string]*tensor.Tensor{}
	for range 3 {
		require.NoError(t, p.RunInto(t.Context(), out, image))
		require.Len(t, out, len(want))
		for i, c := range p.Outputs() {
			require.Equal(t, want[i].Desc, out[c.Name].Desc)
			require.True(t, bytes.Equal(want[i].Data, out[c.Name].Data), c.Name)
		}
	}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		if err := p.RunInto(t.Context(), out, image); err != nil {
			t.Error(err)
		}
	}))
}

// TestRunWorkers runs on a JPEG that several goroutines decode, since no other
// runs are under way. It must be the tensor that one goroutine makes, without
// allocation.
func TestRunWorkers(t *testing.T) {
	noise, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 500, 600, 3))
	require.NoError(t, err)
	for i := range noise.Data {
		noise.Data[i] = uint8(i * i >> 7)
	}
	e, err := codec.NewEncoder("jpeg")
	require.NoError(t, err)
	b, err := e.Encode(nil, noise, codec.EncodeOptions{Quality: 98})
	require.NoError(t, err)
	require.Greater(t, len(b), 400<<10)
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	p, err := inferprep.New(g, inferprep.Options{Jobs: 4})
	require.NoError(t, err)
	image := tensor.FromBytes(b)
	want := plain(t, g, image)[0]
	out := map[string]*tensor.Tensor{}
	run := func() {
		if err := p.RunInto(t.Context(), out, image); err != nil {
			t.Error(err)
		}
	}
	run()
	require.Equal(t, want.Desc, out[p.Outputs()[0].Name].Desc)
	require.True(t, bytes.Equal(want.Data, out[p.Outputs()[0].Name].Data))
	run()
	require.Less(t, testing.AllocsPerRun(20, run), 3.0) // memory that the workers share may grow
}

// TestPixels compares pixels with an encoded image of the same pixels, in both
// layouts and as a part of a larger image.
func TestPixels(t *testing.T) {
	p := open(t, "preset:imagenet")
	image := file(t, "images/png_rgb8.png")
	want, err := p.Run(t.Context(), image)
	require.NoError(t, err)
	pix, err := eager.Apply(image, x.NewDecode())
	require.NoError(t, err)
	planes, err := eager.Apply(pix, x.NewHWC2CHW())
	require.NoError(t, err)
	wide, err := eager.Apply(pix, x.NewPad(5, 11, 3, 7))
	require.NoError(t, err)
	part, err := wide.Slice(0, 5, 5+pix.Height())
	require.NoError(t, err)
	if part, err = part.Slice(1, 3, 3+pix.Width()); err != nil {
		t.Fatal(err)
	}
	for i, in := range []*tensor.Tensor{pix, planes, part} {
		out, err := p.Run(t.Context(), in)
		require.NoError(t, err)
		for name := range want {
			require.True(t, bytes.Equal(want[name].Data, out[name].Data), "image %d", i)
		}
	}
	for _, bad := range []tensor.Desc{tensor.Image(tensor.Float32, tensor.HWC, 2, 2, 3), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2), {DType: tensor.Uint8, Shape: tensor.Dims(4)}} {
		in, err := tensor.New(bad)
		require.NoError(t, err)
		_, err = p.Run(t.Context(), in)
		require.ErrorIs(t, err, x.ErrInput)
		require.ErrorContains(t, err, bad.String())
	}
	_, err = p.Run(t.Context(), nil)
	require.ErrorIs(t, err, x.ErrInput)
}

// TestConcurrent runs many images at once, and compares a batch with single
// runs.
func TestConcurrent(t *testing.T) {
	p := open(t, "preset:imagenet")
	names := []string{"jpeg_large.jpg", "png_rgb8.png", "jpeg_gray.jpg"}
	var images []*tensor.Tensor
	for i := range 24 {
		images = append(images, file(t, "images/"+names[i%len(names)]))
	}
	batch, err := p.RunBatch(t.Context(), images)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range images {
		wg.Go(func() {
			out, err := p.Run(t.Context(), images[i])
			if err != nil {
				t.Error(err)
				return
			}
			for name, one := range out {
				part, err := batch[name].Slice(0, i, i+1)
				if err != nil || string(part.Data) != string(one.Data) {
					t.Errorf("image %d, output %s: %v", i, name, err)
				}
			}
		})
	}
	wg.Wait()
	images[7] = tensor.FromBytes([]byte("no image"))
	_, err = p.RunBatch(t.Context(), images)
	require.ErrorIs(t, err, codec.ErrFormat)
	require.ErrorContains(t, err, "image 7")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.RunBatch(ctx, images)
	require.ErrorIs(t, err, context.Canceled)
}

func TestSizes(t *testing.T) {
	for _, name := range []string{"preset:imagenet", "preset:yolo", "preset:decode", "testdata/configs/hf/vit-fast-saved.json"} {
		p := open(t, name)
		image := file(t, "images/jpeg_large.jpg")
		out, err := p.Run(t.Context(), image)
		require.NoError(t, err)
		pix, err := eager.Apply(image, x.NewDecode())
		require.NoError(t, err)
		sizes, err := p.Sizes(pix.Height(), pix.Width())
		require.NoError(t, err)
		require.Len(t, sizes, len(out))
		for name, t2 := range out {
			require.Equal(t, t2.Desc, sizes[name], name)
		}
		_, err = p.Sizes(0, 5)
		require.ErrorIs(t, err, x.ErrInput)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for range 100 {
					again, err := p.Sizes(pix.Height(), pix.Width())
					assert.NoError(t, err)
					assert.Equal(t, sizes, again)
				}
			})
		}
		group.Wait()
	}
}

// TestSizesOfModels compares Sizes with the outputs of the configurations of
// real models, for a wide and for an upright image.
func TestSizesOfModels(t *testing.T) {
	files, err := filepath.Glob("testdata/configs/hf/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 100)
	for _, name := range files {
		p := open(t, name)
		for _, shape := range []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 90, 1100, 3), tensor.Image(tensor.Uint8, tensor.HWC, 700, 451, 3)} {
			image, err := tensor.New(shape)
			require.NoError(t, err)
			out, err := p.Run(t.Context(), image)
			sizes, sizesErr := p.Sizes(shape.Height(), shape.Width())
			if err != nil {
				assert.Error(t, sizesErr, "%s: %v", name, err)
				continue
			}
			assert.NoError(t, sizesErr, name)
			for output, x := range out {
				assert.Equal(t, x.Desc, sizes[output], "%s: %s", name, output)
			}
			require.Len(t, sizes, len(out))
		}
	}
}

// TestOpen opens every kind of file by its content.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		return filepath.Join(dir, name)
	}
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	j, err := g.MarshalJSON()
	require.NoError(t, err)
	m, err := g.MarshalMsg(nil)
	require.NoError(t, err)
	const hf = `{"image_processor_type":"ViTImageProcessor","do_resize":true,"size":{"height":8,"width":8},"resample":2,"do_rescale":true,"rescale_factor":0.5,"do_normalize":true,"image_mean":[0.5,0.5,0.5],"image_std":[0.5,0.5,0.5]}`
	const timm = `{"architecture":"resnet50","pretrained_cfg":{"input_size":[3,8,8],"interpolation":"bilinear","crop_pct":1,"mean":[0,0,0],"std":[1,1,1]}}`
	write("hf/preprocessor_config.json", hf)
	write("hf/config.json", `{"model_type":"vit"}`)
	write("timm/config.json", timm)
	write("both/preprocessor_config.json", hf)
	write("both/metadata.yaml", "stride: 32\nimgsz: [32, 32]\n")
	write("wrapped/preprocessor_config.json", hf) // transformers, too, takes timm's config.json
	write("wrapped/config.json", timm)
	write("none/readme.txt", "x")
	for _, c := range []struct{ name, want string }{
		{write("g.json", string(j)), ""},
		{write("bom.json", "\ufeff"+string(j)), ""},
		{write("g.msgp", string(m)), ""},
		{write("a.json", hf), "transformers"},
		{filepath.Join(dir, "hf"), "transformers"},
		{filepath.Join(dir, "timm"), "timm"},
		{filepath.Join(dir, "wrapped"), "timm"},
		{write("compose.txt", "Compose(\n    Resize(size=8, interpolation=bilinear, max_size=None, antialias=True)\n    ToTensor()\n)"), "torchvision"},
		{write("metadata.yaml", "task: detect\nhead: Detect\nstride: 32\nimgsz:\n- 32\n- 32\nargs:\n  dynamic: false\n  half: false\n"), "ultralytics"},
		{write("mfcc.conf", "--num-ceps=20\n--dither=0\n"), "Kaldi"},
		{write("ta.json", `{"transforms": [{"type": "torchaudio.transforms.MelSpectrogram"}]}`), "torchaudio"},
		{write("lr.json", `{"librosa.feature.mfcc": {"sr": 16000}}`), "librosa"},
		{write("k.json", `{"mode":"tf","size":[8,8]}`), "keras"},
		{write("cv.json", `{"scalefactor":1,"swapRB":true}`), "OpenCV"},
	} {
		g, err := inferprep.Source{Name: c.name}.Graph(t.Context())
		require.NoError(t, err, c.name)
		require.Contains(t, g.Reference, c.want)
	}
	for _, c := range []struct {
		s    inferprep.Source
		kind error
		text string
	}{
		{inferprep.Source{Name: filepath.Join(dir, "both")}, inferprep.ErrAmbiguous, "hf or ultralytics"},
		{inferprep.Source{Name: filepath.Join(dir, "none")}, inferprep.ErrUnknown, "folder"},
		{inferprep.Source{Name: write("x.json", "{}")}, inferprep.ErrUnknown, "x.json"},
		{inferprep.Source{Name: write("empty", "")}, inferprep.ErrUnknown, "empty"},
		{inferprep.Source{Name: filepath.Join(dir, "missing")}, os.ErrNotExist, "missing"},
		{inferprep.Source{Name: "preset:imagnet"}, nil, "imagenet"},
		{inferprep.Source{Name: "preset:imagenet", Backend: "pil"}, inferprep.ErrOption, "pil"},
		{inferprep.Source{Data: []byte(hf), Backend: "pill"}, inferprep.ErrOption, `did you mean "pil"?`},
		{inferprep.Source{Data: []byte(hf), Format: "hff"}, importer.ErrUnknown, "hf"},
		{inferprep.Source{Data: m[:len(m)-1]}, datagraph.ErrGraph, ""},
		{inferprep.Source{Data: append(m[:len(m):len(m)], 0)}, datagraph.ErrGraph, "1 bytes after"},
	} {
		_, err := c.s.Graph(t.Context())
		require.Error(t, err, "%+v", c.s)
		if c.kind != nil {
			require.ErrorIs(t, err, c.kind)
		}
		require.ErrorContains(t, err, c.text)
	}
}
