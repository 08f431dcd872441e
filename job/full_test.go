package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// fillDisk makes the writing of .npy files fail after some.
func fillDisk(t *testing.T, after int32) *atomic.Int32 {
	whole := formats[0]
	t.Cleanup(func() { formats[0] = whole })
	var n atomic.Int32
	formats[0].write = func(w io.Writer, ts []tensor.Named) error {
		if n.Add(1) > after {
			_, _ = w.Write(make([]byte, 1<<17))
			return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
		}
		return whole.write(w, ts)
	}
	return &n
}

// TestDiskFull: a full disk ends the run and is reported once.
func TestDiskFull(t *testing.T) {
	enterImages(t, 200)
	n := fillDisk(t, 20)
	var failed []error
	j := Job{Preprocessor: decoder(t, 4, codec.Limits{}), Inputs: Paths("in"), To: Sink{Dir: "out"}, OnResult: func(x Result) error {
		if x.Status == Failed {
			failed = append(failed, x.Err)
		}
		return nil
	}}
	sum, err := j.Run(t.Context())
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Len(t, failed, 1)
	require.Regexp(t, `^in/\d+.png: cannot write out/\d+.png.npy: no space left on device$`, filepath.ToSlash(failed[0].Error()))
	require.Equal(t, 20, sum.Done)
	require.Len(t, listFiles(t, "out"), 20)
	require.Less(t, int(n.Load()), 100, "the rest was not tried")
}

// TestBatchDiskFull: a full disk ends the run, and its batch is not written.
// The images that are reported as done are in the earlier batches.
func TestBatchDiskFull(t *testing.T) {
	enterImages(t, 200)
	n := fillDisk(t, 2)
	done := 0
	j := Job{Preprocessor: decoder(t, 4, codec.Limits{}), Inputs: Paths("in"), To: Sink{Dir: "out", BatchSize: 7}, OnResult: func(x Result) error {
		done++
		require.NotNil(t, x.Outputs[0].Row)
		return nil
	}}
	sum, err := j.Run(t.Context())
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, "cannot write "+filepath.Join("out", "batch-000002.npy")+": no space left on device", err.Error())
	require.Equal(t, []string{"batch-000000.jsonl", "batch-000000.npy", "batch-000001.jsonl", "batch-000001.npy"}, listFiles(t, "out"))
	require.Equal(t, 14, done)
	require.Equal(t, 14, sum.Done)
	require.EqualValues(t, 3, n.Load(), "the rest was not tried")
}

// fullStore is a store whose second file meets a full disk after some bytes.
type fullStore struct {
	runStore
	n *int
}

type fullFile struct{ store.NewFile }

func (f fullFile) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "temporary", Err: syscall.ENOSPC}
}

func (s fullStore) Create(ctx context.Context, name string) (store.NewFile, error) {
	f, err := s.runStore.Create(ctx, name)
	if *s.n++; *s.n >= 2 {
		return fullFile{f}, err
	}
	return f, err
}

// TestShardDiskFull: a shard that cannot be written leaves nothing, and its
// images are not done.
func TestShardDiskFull(t *testing.T) {
	for _, f := range shardFormats {
		if f.shards.index {
			continue // its second file is the first index
		}
		t.Run(f.Name, func(t *testing.T) {
			dir, n := t.TempDir(), 0
			s := &shards{
				columns: columns{format: f, names: []string{"image"}, inputs: []string{"image"}},
				dir:     dir, files: fullStore{runStore{store.Local, dir}, &n}, count: 3, size: 1 << 40, keys: digests{},
			}
			require.NoError(t, s.ready(t.Context()))
			x, err := tensor.New(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(1 << 20)})
			require.NoError(t, err)
			done := 0
			for i := range 6 {
				o := outcome{in: &File{Path: fmt.Sprint(i), Name: fmt.Sprint(i)}}
				o.written, err = s.write(o.in.Name, []*tensor.Tensor{x})
				require.NoError(t, err)
				l, err := s.add(o)
				done += len(l)
				if err != nil {
					require.ErrorIs(t, err, syscall.ENOSPC)
					require.Equal(t, "cannot write "+filepath.Join(dir, "data-00001"+f.Ext)+": no space left on device", err.Error())
					require.Equal(t, 3, i)
					break
				}
			}
			require.Equal(t, 3, done)
			require.NoError(t, s.abort())
			require.Equal(t, []string{"data-00000" + f.Ext}, listFiles(t, dir))
		})
	}
}

func TestStreamError(t *testing.T) {
	err := toStream(&os.PathError{Op: "write", Path: "/dev/stdout", Err: errors.New("closed")})
	require.EqualError(t, err, "cannot write to the writer: closed")
}
