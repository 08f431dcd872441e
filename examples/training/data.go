package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"

	_ "github.com/infer-prep/infer-prep/codec/png" // the images' format
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/sets/cifar10"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

// policy is the name of the feedback policy, and of the column that says which
// of its lists a sample had.
const policy = "policy"

// data is a data set: images for training and images for testing.
type data struct {
	train  dataset.Source
	cifar  bool
	labels []string
	test   []testImage
}

// testImage is an image that the training does not see.
type testImage struct {
	path  string // of an image file
	class int
}

// openData opens a folder in CIFAR-10's binary format, or one with the folders
// train and test, which have a folder of images for each class. Test images of
// CIFAR-10 are written as PNG files below out, for programs that take files.
func openData(ctx context.Context, dir, out string) (*data, error) {
	if _, err := os.Stat(filepath.Join(dir, "data_batch_1.bin")); err == nil {
		return openCIFAR(ctx, dir, filepath.Join(out, "test"))
	}
	d := &data{train: imagefolder.New(filepath.Join(dir, "train"))}
	err := d.open(ctx, imagefolder.New(filepath.Join(dir, "test")), func(_ int64, s *dataset.Sample) (string, error) {
		return filepath.Join(dir, "test", filepath.FromSlash(s.Key)), nil
	})
	return d, err
}

func openCIFAR(ctx context.Context, dir, out string) (*data, error) {
	d := &data{train: cifar10.New(dir), cifar: true}
	test := cifar10.New(dir)
	test.Usage = "test"
	err := d.open(ctx, test, func(i int64, s *dataset.Sample) (string, error) {
		im := image.NewRGBA(image.Rect(0, 0, 32, 32))
		for i, x := range tensor.View[uint8](&s.Column("image").Tensor) {
			im.Pix[i/3*4+i%3] = x
			im.Pix[i/3*4+3] = 255
		}
		folder := filepath.Join(out, d.labels[tensor.View[int32](&s.Column("label").Tensor)[0]])
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return "", err
		}
		path := filepath.Join(folder, fmt.Sprintf("%05d.png", i))
		var b bytes.Buffer
		if err := png.Encode(&b, im); err != nil {
			return "", err
		}
		return path, replaceFile(path, b.Bytes())
	})
	return d, err
}

// open lists the classes and the test images of a source. path returns the file
// of a row.
func (d *data) open(ctx context.Context, test dataset.Source, path func(i int64, s *dataset.Sample) (string, error)) (err error) {
	b, err := dataset.Build(ctx, dataset.From(test), dataset.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	classes := b.ClassIndex()
	if len(classes) < 2 {
		return errors.New("training: the classes have no names: want two or more (CIFAR-10's are in batches.meta.txt)")
	}
	d.labels = make([]string, len(classes))
	for name, i := range classes {
		d.labels[i] = name
	}
	run, err := pullpipe.New(b, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	for s, err := range run.All(ctx) {
		if err != nil {
			return err
		}
		file, err := path(int64(len(d.test)), s)
		if err != nil {
			return err
		}
		d.test = append(d.test, testImage{file, int(tensor.View[int32](&s.Column("label").Tensor)[0])})
	}
	return nil
}

// images is the part of the definition that makes images of the model's size:
// the inference graph comes from it. The feedback policy chooses one of three
// augmentations for each sample.
func (d *data) images() *dataset.Dataset {
	ops := []t.Op{
		t.NewFeedbackPolicy(policy).
			Policy(1, t.NewAutoAugment(t.PolicyCIFAR10)).
			Policy(1, t.NewRandomHorizontalFlip()).
			Policy(1, t.NewRandomHorizontalFlip(), t.NewRandomErasing()),
		t.NewPolicyIndex(policy),
		t.NewResize(side, side), t.NewToTensor(), t.NewNormalize([]float64{0.5, 0.5, 0.5}, []float64{0.25, 0.25, 0.25}),
	}
	if !d.cifar {
		ops = append([]t.Op{t.NewDecode()}, ops...)
	}
	g := datagraph.New(ops...)
	if d.cifar {
		g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, 32, 32, 3)
	}
	g.Outputs, g.SideOutputs = []string{"image", policy}, nil
	return dataset.From(d.train).Shuffle().Map(g)
}

// definition is the whole training: images, features, batches.
func (d *data) definition(batch int) *dataset.Dataset {
	return d.images().MapFunc(extractor, []string{"image"}, featureColumn).Batch(batch)
}

// inferenceGraph returns the graph from an image file to the model's input: the
// training's definition without its random ops.
func (d *data) inferenceGraph(ctx context.Context) (*datagraph.Graph, []dataset.Note, error) {
	g, notes, err := dataset.InferenceGraph(ctx, d.images(), dataset.InferenceOptions{Outputs: []string{"image"}})
	if err != nil || !d.cifar {
		return g, notes, err
	}
	// CIFAR-10's files hold pixels; the program that runs the bundle has files.
	whole := datagraph.New(t.NewDecode())
	whole.Reference, whole.Outputs = g.Reference, g.Outputs
	column := g.Inputs[0].Name
	if column != "image" {
		return nil, nil, fmt.Errorf("training: the inference graph takes %q, want image", column)
	}
	whole.Steps = slices.Concat(whole.Steps, g.Steps)
	return whole, notes, nil
}

// tensors returns the model's input of each test image.
func (d *data) tensors(g *datagraph.Graph) ([][]float32, error) {
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		return nil, err
	}
	r := plan.NewRunner()
	var l [][]float32
	for _, im := range d.test {
		b, err := os.ReadFile(im.path)
		if err != nil {
			return nil, err
		}
		out, err := r.Run(tensor.FromBytes(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", im.path, err)
		}
		l = append(l, slices.Clone(tensor.View[float32](out[0])))
	}
	return l, nil
}
