package job

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestHeldBytes: the images that are read and not yet decoded stay below the
// limit together, unless there is only one.
func TestHeldBytes(t *testing.T) {
	png := append(pngBytes(t, 5, 4, 1), make([]byte, 400_000)...)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	const images = 6
	for i := range images {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.png", i), Mode: 0o666, Size: int64(len(png))}))
		_, err := w.Write(png)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	r := &run{job: &Job{}, limits: codec.Limits{Bytes: 1_000_000}, held: newBudget(1_000_000)}
	made := make(chan *File, images)
	go func() {
		defer close(made)
		f := records.Format{Name: "webdataset"}
		r.container(t.Context(), &File{Path: "x.tar", Name: "x.tar"}, f, &archive, func(in *File) bool {
			made <- in
			return true
		})
	}()
	first, second := <-made, <-made
	for range 4 {
		select {
		case <-made:
			require.Fail(t, "a third image above the limit")
		case <-time.After(100 * time.Millisecond):
		}
		require.Equal(t, png, first.data)
		first.free()
		require.Nil(t, first.data)
		first, second = second, <-made
	}
	first.free()
	second.free()
	require.Nil(t, <-made)
	require.Zero(t, r.held.used)
}

// heldSink holds the tensors of all images; their size is half of the limit.
type heldSink struct {
	size  int64
	begun atomic.Int32
	most  int32 // images begun while the first one was not done
}

func (s *heldSink) ready(context.Context) error { return nil }

func (s *heldSink) write(name string, _ []*tensor.Tensor) (written, error) {
	if s.begun.Add(1); name == "000.png" {
		time.Sleep(100 * time.Millisecond) // for the others, to be too many
		s.most = s.begun.Load()
	}
	return written{size: s.size}, nil
}

func (s *heldSink) add(o outcome) ([]outcome, error) {
	if o.in.Name == "199.png" {
		return nil, errors.New("stop")
	}
	return []outcome{o}, nil
}

func (s *heldSink) close() ([]outcome, error) { return nil, nil }
func (s *heldSink) abort() error              { return nil }

// TestKept: while an image is slow, the tensors of those after it stay below
// the limit, and not only their number.
func TestKept(t *testing.T) {
	enterImages(t, 200)
	const jobs, limit = 3, 1 << 20
	j := Job{Preprocessor: decoder(t, jobs, codec.Limits{Bytes: limit}), Inputs: Paths("in"), To: Sink{Dir: "out"}}
	r, err := j.newRun()
	require.NoError(t, err)
	l := Find(t.Context(), j.files(), j.Inputs, "out")
	defer l.Close()
	s := &heldSink{size: limit / 2}
	r.sink, r.files, r.inputs = s, nil, l.Files
	sum, err := r.run(t.Context())
	require.EqualError(t, err, "stop", "an error ends the run although others wait")
	require.Zero(t, sum.Failed)
	require.GreaterOrEqual(t, s.most, int32(2))
	require.LessOrEqual(t, s.most, int32(2+jobs+1))
}
