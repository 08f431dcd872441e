package objects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/storetest"
)

// fake is a service in memory.
type fake struct {
	mu      sync.Mutex
	objects map[string]object // by key
	version int
	err     error // of all methods
	short   bool  // Upload loses a byte
}

type object struct {
	b       []byte
	version string
}

func (f *fake) object(key string) (object, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, ok := f.objects[key]
	switch {
	case f.err != nil:
		return o, f.err
	case !ok:
		return o, &Answer{Status: http.StatusNotFound, Text: "none"}
	}
	return o, nil
}

func (f *fake) Get(_ context.Context, _, key string, off, n int64, _ string) (*remote.Object, error) {
	o, err := f.object(key)
	if err != nil {
		return nil, err
	}
	size := int64(len(o.b))
	if off >= size {
		return nil, &Answer{Status: http.StatusRequestedRangeNotSatisfiable}
	}
	n = min(n, size-off)
	return &remote.Object{Body: io.NopCloser(bytes.NewReader(o.b[off : off+n])), Length: n, Size: size, Version: o.version}, nil
}

func (f *fake) Head(_ context.Context, _, key string) (*remote.Object, error) {
	o, err := f.object(key)
	return &remote.Object{Size: int64(len(o.b)), Version: o.version}, err
}

func (f *fake) List(_ context.Context, _, prefix string, max int) (l []Entry, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok || max > 0 && len(l) == max {
			continue
		}
		e := Entry{Key: key, Size: int64(len(f.objects[key].b))}
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			e = Entry{Key: prefix + rest[:i+1]}
		}
		if !seen[e.Key] {
			l = append(l, e)
		}
		seen[e.Key] = true
	}
	return l, f.err
}

func (f *fake) Upload(_ context.Context, _, key string, r io.Reader) (int64, error) {
	b, err := io.ReadAll(r)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		err = f.err
	}
	if err != nil {
		return 0, err
	}
	if f.short {
		b = b[1:]
	}
	f.version++
	f.objects[key] = object{b, strconv.Itoa(f.version)}
	return int64(len(b)), nil
}

func (f *fake) Service() string { return "fake" }

func (f *fake) Explain(err error) *Answer {
	var a *Answer
	errors.As(err, &a)
	return a
}

func backend() (*Backend, *fake) {
	f := &fake{objects: map[string]object{}}
	return New("x", "bucket", f), f
}

func TestStore(t *testing.T) {
	b, _ := backend()
	storetest.Run(t, storetest.Config{Store: remote.New(b, remote.Options{}), Folder: "x://b/a folder"})
}

func TestNames(t *testing.T) {
	b, _ := backend()
	for _, name := range []string{"x:/b/k", "y://b/k", "x://", "x:///k", "x://user:secret@b/k"} {
		_, err := b.Stat(t.Context(), name)
		require.EqualError(t, err, "invalid name: want x://BUCKET/KEY")
	}
	for _, name := range []string{"x://b", "x://b/", "x://b/k/"} {
		_, err := b.Get(t.Context(), name, 0, 1, "")
		require.ErrorIs(t, err, fs.ErrNotExist)
		_, err = b.Create(t.Context(), name)
		require.Error(t, err)
	}
}

// TestFolders: markers of folders and keys with empty elements are no files.
func TestFolders(t *testing.T) {
	b, f := backend()
	for _, key := range []string{"d/", "d/a", "d//b", "d/e//", "empty/"} {
		f.objects[key] = object{[]byte("1"), "1"}
	}
	l, err := b.List(t.Context(), "x://b/d")
	require.NoError(t, err)
	var names []string
	for _, i := range l {
		names = append(names, i.Name)
	}
	require.Equal(t, []string{"x://b/d/a", "x://b/d/e"}, names)
	l, err = b.List(t.Context(), "x://b/empty")
	require.NoError(t, err)
	require.Empty(t, l)
	i, err := b.Stat(t.Context(), "x://b/empty")
	require.NoError(t, err)
	require.True(t, i.Folder)
	_, err = b.List(t.Context(), "x://b") // a bucket is a folder, also an empty one
	require.NoError(t, err)
}

func TestErrors(t *testing.T) {
	b, f := backend()
	f.objects["k"] = object{[]byte("1"), "1"}
	_, err := b.Get(t.Context(), "x://b/k", 0, 1, "2")
	require.ErrorIs(t, err, remote.ErrChanged)
	var temp *remote.TemporaryError
	for status, want := range map[int]error{404: fs.ErrNotExist, 401: fs.ErrPermission, 403: fs.ErrPermission, 412: remote.ErrChanged, 400: nil} {
		f.err = &Answer{Status: status, Text: "text"}
		_, err := b.Get(t.Context(), "x://b/k", 0, 1, "")
		require.ErrorContains(t, err, "text")
		require.False(t, errors.As(err, &temp))
		if want != nil {
			require.ErrorIs(t, err, want)
		}
	}
	for _, status := range []int{408, 429, 500, 503} {
		f.err = &Answer{Status: status, After: "7"}
		_, err := b.List(t.Context(), "x://b/k")
		require.ErrorAs(t, err, &temp)
		require.Equal(t, 7*time.Second, temp.After)
	}
	f.err = &url.Error{Op: "Get", URL: "https://h/?sig=secret", Err: io.ErrUnexpectedEOF}
	_, err = b.Stat(t.Context(), "x://b/k")
	require.ErrorAs(t, err, &temp)
	require.NotContains(t, err.Error(), "secret")
	require.Equal(t, time.Duration(0), after("soon"))
	require.InDelta(t, 60, after(time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)).Seconds(), 2)
}

// TestUploads that fail: the error comes from Write or Close, with the name.
func TestUploads(t *testing.T) {
	b, f := backend()
	f.short = true
	w, err := b.Create(t.Context(), "x://b/k")
	require.NoError(t, err)
	_, err = w.Write([]byte("abc"))
	require.NoError(t, err)
	require.EqualError(t, w.Close(), "create x://b/k: the service has 2 bytes of 3 that were written")

	f.err = &Answer{Status: 403, Text: "denied"}
	w, err = b.Create(t.Context(), "x://b/k")
	require.NoError(t, err)
	err = w.Close()
	require.ErrorIs(t, err, fs.ErrPermission)
	require.Contains(t, err.Error(), "x://b/k")
	_, err = w.Write([]byte("a"))
	require.ErrorIs(t, err, io.ErrClosedPipe)

	ctx, cancel := context.WithCancel(t.Context())
	f.err = nil
	w, err = b.Create(ctx, "x://b/cancelled")
	require.NoError(t, err)
	_, err = w.Write([]byte("a"))
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, w.Close(), context.Canceled)
	require.NoError(t, w.Abort())
	require.NotContains(t, f.objects, "cancelled")
}
