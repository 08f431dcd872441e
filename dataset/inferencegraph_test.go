package dataset_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

// same leaves its input as it is.
type same struct{}

func (o *same) Info() t.Info {
	return t.Info{Name: "test/same", Version: 1, New: func() t.Op { return &same{} }}
}
func (o *same) Validate() error { return nil }
func (o *same) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return nil
}
func (o *same) Apply(_ *t.Context, dst, src []*tensor.Tensor) error { return src[0].CopyTo(dst[0]) }

// certain returns a definition whose random ops do nothing, or only their
// deterministic part.
func certain(d *dataset.Dataset) *dataset.Dataset {
	n := &dataset.Dataset{Node: d.Node}
	for _, in := range d.In {
		n.In = append(n.In, certain(in))
	}
	if m, ok := d.Node.(*dataset.Map); ok {
		c := *m
		g := *m.Graph
		g.Steps = append([]datagraph.Step(nil), g.Steps...)
		for i, s := range g.Steps {
			switch s.Op.(type) {
			case *t.RandomCropDecodeResize:
				g.Steps[i].Op = t.NewDecode()
			case t.Random:
				g.Steps[i].Op = &same{}
			}
		}
		c.Graph = &g
		n.Node = &c
	}
	return n
}

// TestInferenceGraph compares, over random definitions, the graph's tensors
// with those of the dataset without its random ops.
func TestInferenceGraph(test *testing.T) {
	compared, refused, notes := 0, 0, 0
	dir := test.TempDir()
	most := 150
	n := graphs(test, most) // fewer on slow systems
	for seed := range n {
		d := imageDefinition(rand.New(rand.NewPCG(uint64(seed), 7)), false, dir)
		what := fmt.Sprintf("definition %d: %s", seed, describe(d))
		built, err := dataset.Build(test.Context(), certain(d), dataset.Options{})
		if err != nil {
			continue
		}
		g, l, err := dataset.InferenceGraph(test.Context(), d, dataset.InferenceOptions{})
		if err != nil {
			require.True(test, strings.Contains(err.Error(), "test/") || strings.Contains(err.Error(), "no map makes one of the columns"), "%s: %v", what, err)
			refused++
			require.NoError(test, built.Close())
			continue
		}
		notes += len(l)
		plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(test, err, what)
		columns := map[string]int{}
		for i, c := range built.Columns() {
			columns[c.Name] = i
		}
		p := pull(test, built, nil)
		for range 8 {
			s, err := p.Next(context.Background())
			if err != nil {
				break
			}
			var row int
			if _, err := fmt.Sscanf(s.Key, "photo %d", &row); err != nil {
				continue // of another input of a zip
			}
			file, err := os.ReadFile(filepath.Join("..", "testdata", "images", photoFiles[row%len(photoFiles)]))
			require.NoError(test, err)
			out, err := plan.NewRunner().Run(tensor.FromBytes(file))
			require.NoError(test, err, what)
			for i, o := range plan.Outputs() {
				have := &s.Values[columns[o.Name]].Tensor
				if have.Shape.Rank() == out[i].Shape.Rank()+1 {
					have, err = have.Slice(0, 0, 1)
					require.NoError(test, err)
				}
				require.Equal(test, have.Clone().Data, out[i].Clone().Data, "%s: sample %s, column %s", what, s.Key, o.Name)
				compared++
			}
		}
		require.NoError(test, p.Close())
	}
	require.Greater(test, compared, n/3)
	if n == most {
		require.NotZero(test, refused)
		require.NotZero(test, notes)
	}
}

// TestInferenceGraphBatch checks that the graph keeps its batch rules, under
// the columns' names.
func TestInferenceGraphBatch(test *testing.T) {
	rule := datagraph.Batching{Rule: datagraph.BatchPad, Value: 2}
	g := datagraph.New(t.NewDecode()).SetBatch("image", rule)
	d := dataset.From(&photos{N: 12}).Map(g).Rename([]string{"image"}, []string{"x"}).Batch(2)
	got, _, err := dataset.InferenceGraph(test.Context(), d, dataset.InferenceOptions{Outputs: []string{"x"}})
	require.NoError(test, err)
	require.Equal(test, []datagraph.BatchColumn{{Column: "x", Batching: rule}}, got.Batch)
}

func TestInferenceGraphOf(test *testing.T) {
	photo := dataset.From(&photos{N: 12})
	crop := t.NewRandomResizedCrop(24, 20)
	train := datagraph.New(t.NewDecode(), crop, t.NewRandomHorizontalFlip(), t.NewToTensor()).Rename("pixels")
	lookAt := dataset.Predicate(func(*dataset.Call, []*tensor.Tensor) (bool, error) { return true, nil })
	double := dataset.MapFunc(func(c *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error { return nil })
	label := dataset.Column{Name: "label", Desc: tensor.Desc{DType: tensor.Int64}}
	drop := dataset.InferenceOptions{}
	named := func(names ...string) dataset.InferenceOptions {
		o := dataset.InferenceOptions{Replace: map[string]dataset.Replacement{}}
		for _, r := range dataset.Replacements() {
			for _, n := range names {
				if r.Name == n {
					for _, op := range r.For {
						o.Replace[op] = r.With
					}
				}
			}
		}
		return o
	}
	for _, c := range []struct {
		name  string
		d     *dataset.Dataset
		o     dataset.InferenceOptions
		steps string // op in -> out, …; input and outputs
		notes []string
		err   string
	}{
		{
			name: "random ops are dropped", d: photo.Shuffle().Map(train).Repeat(3).Batch(4), o: drop,
			steps: "image; decode image->image, to_tensor image->pixels; [pixels] []",
			notes: []string{
				"batch/repeat/map/1 (random_resized_crop): left out; in training the image was 24 x 20 (height x width) here: set the size for inference with a replacement, or with ops of your own",
				"batch/repeat/map/2 (random_horizontal_flip): left out",
			},
		},
		{
			name: "random ops are refused", d: photo.Map(train).Batch(4), o: dataset.InferenceOptions{Random: dataset.RefuseRandom},
			err: "dataset: batch/map/1: random op random_resized_crop: not allowed in an inference graph: drop or replace it\ndataset: batch/map/2: random op random_horizontal_flip: not allowed in an inference graph: drop or replace it",
		},
		{
			name: "a crop is replaced", d: photo.Map(train), o: named("resize_center_crop"),
			steps: "image; decode image->image, resize image->image, center_crop image->image, to_tensor image->pixels; [pixels] []",
			notes: []string{"map/1 (random_resized_crop): replaced by resize, center_crop", "map/2 (random_horizontal_flip): left out"},
		},
		{
			name: "a decoding crop is replaced", d: photo.Map(datagraph.New(t.NewRandomCropDecodeResize(16, 16))), o: named("squash"),
			steps: "image; decode image->image, resize image->image; [image] []",
			notes: []string{"map/0 (random_crop_decode_resize): replaced by decode, resize"},
		},
		{
			name: "a padded crop is replaced", d: photo.Map(datagraph.New(t.NewDecode(), t.NewRandomCrop(16, 16, 2))), o: named("center_crop"),
			steps: "image; decode image->image, center_crop image->image; [image] []",
			notes: []string{"map/1 (random_crop): replaced by center_crop"},
		},
		{
			name: "what is certain stays", d: photo.Map(datagraph.New(t.NewRandomCropDecodeResize(16, 16), t.NewCompose(t.NewVerticalFlip(), t.NewRandomGrayscale(), t.NewCompose(t.NewInvert())))), o: drop,
			steps: "image; decode image->image, vertical_flip image->image, invert image->image; [image] []",
			notes: []string{
				"map/0 (random_crop_decode_resize): replaced by decode; in training the image was 16 x 16 (height x width) here: set the size for inference with a replacement, or with ops of your own",
				"map/1 (random_grayscale): left out",
			},
		},
		{
			name: "columns are renamed, chosen and kept apart",
			d: photo.MapColumns(datagraph.New(t.NewDecode()), []string{"image"}, []string{"raw"}).
				Apply(func(d *dataset.Dataset) *dataset.Dataset {
					g := onPixels(t.NewHWC2CHW())
					g.SideOutputs = []string{"before"}
					g.Inputs[0].Name = "before"
					g.Steps[0].In = []string{"before"}
					return d.MapColumns(g, []string{"raw"}, []string{"image", "raw"})
				}).Rename([]string{"image"}, []string{"x"}).Project("label", "x", "raw").Cache(100),
			o:     drop,
			steps: "image; decode image->raw, hwc2chw raw->x; [x] [raw]",
		},
		{
			name: "side outputs", d: photo.Map(datagraph.New(t.NewDecode(), t.NewLetterbox(16, 16))), o: drop,
			steps: "image; decode image->image, letterbox image->image,scale,pad; [image] [scale pad]",
		},
		{
			name: "outputs are chosen", d: photo.Map(datagraph.New(t.NewDecode(), t.NewLetterbox(16, 16))), o: dataset.InferenceOptions{Outputs: []string{"pad", "image"}},
			steps: "image; decode image->image, letterbox image->image,scale,pad; [pad image] []",
		},
		{
			name: "datasets that are alike are mixed",
			d:    photo.Map(datagraph.New(t.NewDecode())).Concat(photo.Map(datagraph.New(t.NewDecode()))), o: drop,
			steps: "image; decode image->image; [image] []",
		},
		{
			name: "datasets side by side", o: drop,
			d:     dataset.NewZip(photo.Project("image"), photo.Rename([]string{"image", "label"}, []string{"other", "n"})).Map(datagraph.New(t.NewDecode())),
			steps: "image; decode image->image; [image] []",
		},
		{
			name: "images are joined to labels", o: drop,
			d:     dataset.From(&numbers{}).Join(photo.Rename([]string{"label"}, []string{"x"}).Map(datagraph.New(t.NewDecode())), "x").Batch(2),
			steps: "image; decode image->image; [image] []",
		},
		{
			name: "labels are joined to images", o: drop,
			d:     photo.Rename([]string{"label"}, []string{"x"}).Join(dataset.From(&numbers{}), "x").Map(datagraph.New(t.NewDecode())).Shuffle(),
			steps: "image; decode image->image; [image] []",
		},
		{
			name: "sources tell what they have", o: drop,
			d:     dataset.NewZip(photo, dataset.From(&numbers{})).Map(datagraph.New(t.NewDecode())),
			steps: "image; decode image->image; [image] []",
		},
		{
			name: "a batch pads", d: photo.Map(datagraph.New(t.NewDecode())).BatchPadded(3, dataset.PadColumn{Column: "image", Shape: []int{-1, -1, 3}}), o: drop,
			steps: "image; decode image->image; [image] []",
			notes: []string{"batch (batch): left out: it pads the column image to [-1 -1 3]; -1 is the largest of the batch"},
		},
		{
			name: "a label is a function's", d: photo.Map(datagraph.New(t.NewDecode())).MapFunc(double, []string{"label"}, label).Filter(lookAt, "label"), o: drop,
			steps: "image; decode image->image; [image] []",
		},
		{
			name: "an image is a function's", o: drop,
			d:   photo.MapFunc(double, []string{"image"}, dataset.Column{Name: "image", Desc: tensor.Encoded()}).Map(datagraph.New(t.NewDecode())),
			err: "no map makes one of the columns [\"image\"] of a source's image",
		},
		{
			name: "a decoded image is a function's", o: drop,
			d:   photo.Map(datagraph.New(t.NewDecode())).MapFunc(double, []string{"image"}, dataset.Column{Name: "image", Desc: tensor.Image(tensor.Uint8, tensor.HWC, 4, 4, 3)}),
			err: `dataset: func: invalid definition: column "image": the function (unnamed) makes it, which a graph cannot`,
		},
		{
			name: "a filter looks at the image", d: photo.Map(datagraph.New(t.NewDecode())).Filter(lookAt, "label", "image").Batch(1), o: drop,
			err: `dataset: batch/filter: column "image": invalid definition: the predicate (unnamed) reads it, and a graph cannot drop an image`,
		},
		{
			name: "datasets that are not alike", d: photo.Map(datagraph.New(t.NewDecode())).Concat(photo.Map(datagraph.New(t.NewDecode(), t.NewInvert()))), o: drop,
			err: `dataset: concat: invalid definition: column "image": inputs 0 and 1 make it in different ways`,
		},
		{
			name: "a map on batches", o: drop,
			d: photo.Map(datagraph.New(t.NewDecode(), t.NewResize(4, 4))).Project("image").Batch(2).Apply(func(d *dataset.Dataset) *dataset.Dataset {
				return d.Map(onPixels(t.NewInvert()))
			}),
			err: "dataset: map: invalid definition: its graph takes whole batches",
		},
		{
			name: "a column that is not there", d: photo.Project("image").MapColumns(train, []string{"picture"}, nil), o: drop,
			err: `dataset: map: invalid definition: no column "picture", want one of ["image"]`,
		},
		{
			name: "an output that is none of the image", d: photo.Map(train), o: dataset.InferenceOptions{Outputs: []string{"label"}},
			err: "no map makes one of the columns [\"label\"] of a source's image",
		},
		{
			name: "a replacement of no op", d: photo.Map(train), o: dataset.InferenceOptions{Replace: map[string]dataset.Replacement{"random_cropp": nil}},
			err: `replacement: transforms: unknown op "random_cropp"; did you mean "random_crop"?`,
		},
		{
			name: "a replacement of another op", d: photo.Map(train), err: "dataset: map/2: invalid parameter: the replacement squash is not for random_horizontal_flip",
			o: dataset.InferenceOptions{Replace: map[string]dataset.Replacement{"random_horizontal_flip": named("squash").Replace["random_resized_crop"]}},
		},
	} {
		test.Run(c.name, func(test *testing.T) {
			g, notes, err := dataset.InferenceGraph(test.Context(), c.d, c.o)
			if c.err != "" {
				require.ErrorContains(test, err, c.err)
				return
			}
			require.NoError(test, err)
			var steps []string
			for _, s := range g.Steps {
				steps = append(steps, fmt.Sprintf("%s %s->%s", t.InfoOf(s.Op).Name, strings.Join(s.In, ","), strings.Join(s.Out, ",")))
			}
			require.Equal(test, c.steps, fmt.Sprintf("%s; %s; %v %v", g.Inputs[0].Name, strings.Join(steps, ", "), g.Outputs, g.SideOutputs))
			var texts []string
			for _, n := range notes {
				texts = append(texts, n.String())
			}
			require.Equal(test, c.notes, texts)
			require.NoError(test, g.Validate())
		})
	}
}

// TestInferenceGraphMoves checks that the inference graph leaves out columns
// that move with the image.
func TestInferenceGraphMoves(test *testing.T) {
	g := datagraph.New()
	boxes := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown, 4)}
	g.Tie(datagraph.Column{Name: "boxes", Desc: boxes}, t.Role{Kind: t.RoleBoxes, Format: t.CoordXYXY})
	g.Add(t.NewDecode()).Add(t.NewRandomHorizontalFlip()).Add(t.NewResize(20, 20))
	src := inmemory.NewSamples([]dataset.Column{{Name: "image", Desc: tensor.Encoded()}, {Name: "boxes", Desc: boxes}})
	got, _, err := dataset.InferenceGraph(test.Context(), dataset.From(src).Map(g), dataset.InferenceOptions{})
	require.NoError(test, err)
	require.Equal(test, []string{"image"}, got.Outputs)
	require.Empty(test, got.Roles)
	require.False(test, got.Moves())
	_, _, err = dataset.InferenceGraph(test.Context(), dataset.From(src).Map(g), dataset.InferenceOptions{Outputs: []string{"image", "boxes"}})
	require.ErrorContains(test, err, `column "boxes"`)
}
