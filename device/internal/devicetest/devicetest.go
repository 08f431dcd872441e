// Package devicetest tests that training pipelines on a device return the
// samples of the host.
package devicetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// images is a source of files of testdata/images. The last one is truncated.
type images struct{ files [][]byte }

// names are colour images of several sizes and formats.
var names = []string{"jpeg_base_420.jpg", "png_p2.png", "jpeg_base_444.jpg", "jpeg_arith_prog.jpg", "jpeg_base_411.jpg", "jpeg_exif_mm_3.jpg"}

func (m *images) Validate() error                                          { return nil }
func (m *images) Open(context.Context, store.Opener) (dataset.Data, error) { return m, nil }
func (m *images) Close() error                                             { return nil }
func (m *images) Len() int64                                               { return int64(len(m.files)) }
func (m *images) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: tensor.Encoded()}, {Name: "label", Desc: tensor.Desc{DType: tensor.Int32}}}
}

func (m *images) Read(_ context.Context, i int64, s *dataset.Sample) error {
	s.Key = fmt.Sprint("image ", i)
	s.Column("image").ShareBytes(m.files[i])
	return s.Column("label").SetInt32(int32(i))
}

// definitions returns training data with a random head, and data whose maps
// have a resize for the device.
func definitions(source dataset.Source) map[string]*dataset.Dataset {
	normalize := transforms.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225})
	training := datagraph.New(transforms.NewDecode(), transforms.NewRandomResizedCrop(24, 20), transforms.NewRandomHorizontalFlip(), transforms.NewToTensor(), normalize)
	pixels := datagraph.New(transforms.NewResize(30, 26), transforms.NewCenterCrop(21, 22), transforms.NewToTensor(), normalize)
	pixels.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)
	return map[string]*dataset.Dataset{
		"training": dataset.From(source).Shuffle().Repeat(3).Map(training).Batch(2),
		"two maps": dataset.From(source).Map(datagraph.New(transforms.NewDecode())).Shuffle().Map(pixels),
	}
}

// SameSamples compares runs with and without the device for several numbers of
// workers and queues, with samples that fail, and after a resume. dir is the
// folder testdata/images. Every byte is equal.
func SameSamples(t *testing.T, d device.Device, dir string) {
	t.Helper()
	source := &images{}
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(dir, n))
		require.NoError(t, err)
		source.files = append(source.files, b)
	}
	last := source.files[len(source.files)-1]
	source.files = append(source.files, last[:len(last)/3])
	for name, def := range definitions(source) {
		for _, policy := range []dataset.ErrorPolicy{dataset.SkipOnError, dataset.ReplaceOnError} {
			what := fmt.Sprintf("%s, policy %d", name, policy)
			var bad []string
			o := dataset.Options{Seed: 5, OnError: policy, OnSkip: func(e *dataset.SampleError) { bad = append(bad, e.Error()) }}
			host, err := dataset.Build(t.Context(), def, o)
			require.NoError(t, err)
			o.Device = d
			on, err := dataset.Build(t.Context(), def, o)
			require.NoError(t, err, what)
			for _, s := range on.Steps() {
				for _, p := range s.Placement {
					t.Logf("%s: %s: step %d (%s) on %s: %s", what, s.Path, p.Step, p.Op, p.Where, p.Why)
				}
			}
			pull, err := pullpipe.New(host, nil)
			require.NoError(t, err)
			want, wantBad := samples(t, pull), bad
			require.NotEmpty(t, want, what)
			require.NotEmpty(t, wantBad, what)
			for _, w := range []pipeline.Options{{Workers: 1, Queue: 1}, {Workers: 2}, {Workers: 4, Queue: 16, Prefetch: -1}} {
				bad = nil
				p, err := pipeline.New(on, w, nil)
				require.NoError(t, err)
				require.Equal(t, want, samples(t, p), "%s: %+v", what, w)
				require.Equal(t, wantBad, bad, "%s: %+v", what, w)
			}
			p, err := pipeline.New(on, pipeline.Options{Workers: 3}, nil)
			require.NoError(t, err)
			for range 2 {
				_, err := p.Next(t.Context())
				require.NoError(t, err)
			}
			resumed, err := pullpipe.New(host, p.State())
			require.NoError(t, err)
			require.Equal(t, want[2:], samples(t, resumed), what)
			resumed, err = pullpipe.New(on, p.State())
			require.NoError(t, err)
			require.Equal(t, want[2:], samples(t, resumed), what)
			require.NoError(t, errors.Join(p.Close(), on.Close(), host.Close()))
		}
	}
}

// samples returns the rest of an epoch as text, and closes the run.
func samples(t *testing.T, p interface {
	Next(context.Context) (*dataset.Sample, error)
	Close() error
}) (l []string) {
	t.Helper()
	for {
		s, err := p.Next(t.Context())
		if err == io.EOF {
			require.NoError(t, p.Close())
			return l
		}
		require.NoError(t, err)
		text := fmt.Sprintf("%s %d %d", s.Key, s.Epoch, s.Ordinal)
		for i := range s.Values {
			v := &s.Values[i].Tensor
			text += fmt.Sprintf(" %v %x", v.Desc, sha256.Sum256(v.Data))
		}
		l = append(l, text)
	}
}
