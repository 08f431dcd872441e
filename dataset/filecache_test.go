package dataset_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

// decoded returns the definition that the tests cache.
func decoded(n int64, r *reads) *dataset.Dataset {
	return dataset.From(&photos{N: n, reads: r}).Map(datagraph.New(t.NewDecode(), t.NewHorizontalFlip()))
}

// epochs returns the samples of some epochs, from the pull engine or with
// workers.
func epochs(test *testing.T, d *dataset.Dataset, o dataset.Options, n, workers int) (l [][]string) {
	test.Helper()
	b, err := dataset.Build(test.Context(), d, o)
	require.NoError(test, err)
	p := pull(test, b, nil)
	if workers > 0 {
		require.NoError(test, p.Close())
		p = parallel(test, b, workers, nil)
	}
	for range n {
		l = append(l, look(test, p, 1000))
		require.NoError(test, p.NextEpoch())
	}
	require.NoError(test, errors.Join(p.Close(), b.Close()))
	return l
}

func (r *reads) count() (n int) {
	for len(r.n) > 0 {
		<-r.n
		n++
	}
	return n
}

func TestFileCacheSurvives(test *testing.T) {
	file := filepath.Join(test.TempDir(), "cache")
	r := &reads{make(chan int64, 1000)}
	want := epochs(test, decoded(40, r).Shuffle(), dataset.Options{}, 3, 0)
	require.Equal(test, 120, r.count())
	d := decoded(40, r).FileCache(file, 1<<24).Shuffle()
	require.Equal(test, want, epochs(test, d, dataset.Options{}, 3, 0))
	require.Equal(test, 40, r.count())
	for workers := range 3 {
		require.Equal(test, want, epochs(test, d, dataset.Options{}, 3, workers))
		require.Zero(test, r.count())
	}
	// Without room for all samples, the others are computed every time.
	require.Equal(test, want, epochs(test, decoded(40, r).FileCache(file+"2", 1<<16).Shuffle(), dataset.Options{}, 3, 3))
	n := r.count()
	require.Greater(test, n, 40)
	require.Less(test, n, 120)
	i, err := os.Stat(file + "2")
	require.NoError(test, err)
	require.LessOrEqual(test, i.Size(), int64(1<<16))
}

func TestFileCacheOfSomethingElse(test *testing.T) {
	file := filepath.Join(test.TempDir(), "cache")
	r := &reads{make(chan int64, 1000)}
	noise := func(d *dataset.Dataset) *dataset.Dataset {
		return dataset.Of(&dataset.Func{Name: "test/noise", In: []string{"label"}, Out: []dataset.OutColumn{{Name: "label", Desc: tensor.Desc{DType: tensor.Int64}}}}, d)
	}
	for i, c := range []struct {
		d    *dataset.Dataset // below the cache
		mark string
		seed uint64
		made bool
	}{
		{decoded(10, r), "", 0, true},
		{decoded(10, r), "", 0, false},
		{decoded(10, r), "", 1, false}, // no random numbers below
		{decoded(11, r), "", 0, true},
		{decoded(11, r), "new labels", 0, true},
		{decoded(11, r), "new labels", 0, false},
		{decoded(11, r).Skip(1), "new labels", 0, true},
		{decoded(11, r).Project("label", "image"), "new labels", 0, true},
		{noise(decoded(11, r)), "", 0, true},
		{noise(decoded(11, r)), "", 0, false},
		{noise(decoded(11, r)), "", 1, true},
	} {
		node := &dataset.FileCache{File: file, Bytes: 1 << 24, Stamp: c.mark}
		got := epochs(test, dataset.Of(node, c.d), dataset.Options{Seed: c.seed}, 1, 0)
		require.Equal(test, c.made, r.count() > 0, "case %d", i)
		// A cache in memory has the same samples, and the same path for the
		// function.
		mem := dataset.Of(&dataset.FileCache{File: file + "2", Bytes: 1 << 24, Stamp: fmt.Sprint(i)}, c.d)
		require.Equal(test, epochs(test, mem, dataset.Options{Seed: c.seed}, 1, 0), got, "case %d", i)
		r.count()
	}
}

func TestFileCacheIsRefused(test *testing.T) {
	file := filepath.Join(test.TempDir(), "cache")
	for want, d := range map[string]*dataset.Dataset{
		"its function has no name": decoded(3, nil).MapFunc(func(*dataset.Call, []*dataset.Value, []*tensor.Tensor) error { return nil },
			[]string{"label"}).FileCache(file, 1<<20),
		"differs between epochs":                                decoded(3, nil).Shuffle().FileCache(file, 1<<20),
		"the table of 100 rows has 928 bytes, want at most 500": decoded(100, nil).FileCache(file, 500),
		"want a name":         decoded(3, nil).FileCache("", 500),
		"open ":               decoded(3, nil).FileCache(filepath.Join(file, "x"), 1<<20),
		"needs random access": dataset.From(&numbers{N: 3, Stream: true}).FileCache(file, 1<<20),
	} {
		_, err := dataset.Build(test.Context(), d, dataset.Options{})
		var e *dataset.NodeError
		require.ErrorAs(test, err, &e)
		require.Contains(test, err.Error(), want)
	}
}

// TestFileCacheAllocatesNothing checks that reading cached samples allocates
// nothing.
func TestFileCacheAllocatesNothing(test *testing.T) {
	if runtime.GOOS == "js" {
		test.Skip("reading a file allocates in js")
	}
	b, err := dataset.Build(test.Context(), decoded(10, nil).FileCache(filepath.Join(test.TempDir(), "cache"), 1<<24).Repeat(0), dataset.Options{})
	require.NoError(test, err)
	p := pull(test, b, nil)
	ctx := test.Context()
	next := func() {
		_, err := p.Next(ctx)
		require.NoError(test, err)
	}
	for range 30 {
		next()
	}
	require.Zero(test, testing.AllocsPerRun(100, next))
	require.NoError(test, errors.Join(p.Close(), b.Close()))
}

const (
	childFile = "INFER_PREP_TEST_CACHE"
	childSlow = "INFER_PREP_TEST_CACHE_SLOW"
	childRows = 60
)

// TestFileCacheChild runs in the child processes of other tests.
func TestFileCacheChild(test *testing.T) {
	file := os.Getenv(childFile)
	if file == "" {
		return // not a child process
	}
	slow, err := strconv.Atoi(os.Getenv(childSlow))
	require.NoError(test, err)
	b, err := dataset.Build(test.Context(), decoded(childRows, nil).FileCache(file, 1<<24).Shuffle(), dataset.Options{Seed: uint64(os.Getpid())})
	require.NoError(test, err)
	p := pull(test, b, nil)
	for {
		_, err := p.Next(test.Context())
		if err == io.EOF {
			break
		}
		require.NoError(test, err)
		time.Sleep(time.Duration(slow) * time.Microsecond)
	}
	require.NoError(test, errors.Join(p.Close(), b.Close()))
}

func child(test *testing.T, file string, slow int) *exec.Cmd {
	exe, err := os.Executable()
	require.NoError(test, err)
	args := []string{exe, "-test.run=^TestFileCacheChild$"}
	if e := os.Getenv("EMULATOR"); e != "" { // the emulator that runs this program, see testdata/cross.sh
		args = append([]string{e}, args...)
	}
	c := exec.CommandContext(test.Context(), args[0], args[1:]...)
	c.Env = append(os.Environ(), childFile+"="+file, childSlow+"="+strconv.Itoa(slow))
	return c
}
