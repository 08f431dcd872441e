package gcs

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/storetest"
)

// server starts fake-gcs-server in this process, with one bucket.
func server(t *testing.T) *fakestorage.Server {
	t.Helper()
	s, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1"})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	s.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "bucket"})
	t.Setenv("STORAGE_EMULATOR_HOST", s.URL())
	return s
}

// handler has the backend send its requests to a handler.
func handler(t *testing.T, h http.HandlerFunc) remote.Backend {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", s.URL)
	return backend(t)
}

func backend(t *testing.T) remote.Backend {
	t.Helper()
	b, err := New()
	require.NoError(t, err)
	return b
}

func TestStore(t *testing.T) {
	server(t)
	storetest.Run(t, storetest.Config{Store: remote.New(backend(t), remote.Options{}), Folder: "gs://bucket/a folder"})
}

// TestCounts: the requests and bytes of uploads are in the statistics.
func TestCounts(t *testing.T) {
	server(t)
	st := remote.New(backend(t), remote.Options{})
	const size = 2*chunk + 100
	require.NoError(t, store.WriteFile(t.Context(), st, "gs://bucket/big", make([]byte, size)))
	require.Equal(t, remote.Stats{Requests: 4, Sent: size}, st.Stats(), "begin, and three chunks")
	require.NoError(t, store.WriteFile(t.Context(), st, "gs://bucket/small", make([]byte, 100)))
	got := st.Stats()
	require.EqualValues(t, 5, got.Requests)
	require.InDelta(t, size+500, got.Sent, 400) // with the object's description
}

// TestURI reads by the names that store.URI dispatches.
func TestURI(t *testing.T) {
	server(t)
	require.NoError(t, store.WriteFile(t.Context(), store.URI, "gs://bucket/a", []byte("a")))
	b, err := store.ReadFile(t.Context(), store.URI, "gs://bucket/a", nil, 10)
	require.NoError(t, err)
	require.Equal(t, "a", string(b))
	_, err = store.URI.Stat(t.Context(), "gs://other/a")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestGzip: an object with a content encoding has the bytes that are stored.
func TestGzip(t *testing.T) {
	s := server(t)
	content := []byte("\x1f\x8b, or so it seems")
	s.CreateObject(fakestorage.Object{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "bucket", Name: "k.gz", ContentEncoding: "gzip"}, Content: content})
	st := remote.New(backend(t), remote.Options{})
	b, err := store.ReadFile(t.Context(), st, "gs://bucket/k.gz", nil, 100)
	require.NoError(t, err)
	require.Equal(t, content, b)
}

// TestGet: version, checksum and lengths are the service's.
func TestGet(t *testing.T) {
	server(t)
	b := backend(t)
	st := remote.New(b, remote.Options{})
	require.NoError(t, store.WriteFile(t.Context(), st, "gs://bucket/k", []byte("content")))
	o, err := b.Get(t.Context(), "gs://bucket/k", 0, 100, "")
	require.NoError(t, err)
	require.NoError(t, o.Body.Close())
	require.EqualValues(t, 7, o.Length)
	require.EqualValues(t, 7, o.Size)
	require.NotEmpty(t, o.Version)
	require.NotNil(t, o.Sum)
	h := o.NewHash()
	_, _ = h.Write([]byte("content"))
	require.Equal(t, o.Sum, h.Sum(nil))
	o2, err := b.Get(t.Context(), "gs://bucket/k", 2, 3, o.Version)
	require.NoError(t, err)
	got, err := io.ReadAll(o2.Body)
	require.NoError(t, err)
	require.NoError(t, o2.Body.Close())
	require.Equal(t, "nte", string(got))
	require.Nil(t, o2.Sum)
	require.EqualValues(t, 7, o2.Size)
	require.NoError(t, store.WriteFile(t.Context(), st, "gs://bucket/k", []byte("changed")))
	_, err = b.Get(t.Context(), "gs://bucket/k", 2, 3, o.Version)
	require.ErrorIs(t, err, remote.ErrChanged)
}

// TestCondition: the generation is the service's to check.
func TestCondition(t *testing.T) {
	b := handler(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "7", r.FormValue("ifGenerationMatch"))
		require.Equal(t, "bytes=10-19", r.Header.Get("Range"))
		require.Equal(t, "gzip", r.Header.Get("Accept-Encoding"))
		w.WriteHeader(http.StatusPreconditionFailed)
	})
	_, err := b.Get(t.Context(), "gs://bucket/k", 10, 10, "7")
	require.ErrorIs(t, err, remote.ErrChanged)
}

// TestChecksum: bytes that do not have their CRC32C are an error.
func TestChecksum(t *testing.T) {
	var requests atomic.Int64
	b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("X-Goog-Hash", "crc32c=AAAAAA==,md5=aaaa")
		w.Header().Set("X-Goog-Generation", "1")
		_, _ = w.Write([]byte("content"))
	})
	_, err := store.ReadFile(t.Context(), remote.New(b, remote.Options{Attempts: 2}), "gs://bucket/k", nil, 100)
	require.ErrorIs(t, err, remote.ErrChecksum)
	require.EqualValues(t, 2, requests.Load())
}

// TestErrors: the client makes one attempt, and says what the service said.
func TestErrors(t *testing.T) {
	var requests atomic.Int64
	status, reason := 503, ""
	b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Retry-After", "3")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%d,"message":"the message","errors":[{"reason":%q}]}}`, status, reason)
	})
	var temp *remote.TemporaryError
	for _, do := range []func() error{
		func() error { _, err := b.Get(t.Context(), "gs://bucket/k", 0, 1, ""); return err },
		func() error { _, err := b.Stat(t.Context(), "gs://bucket/k"); return err },
		func() error { _, err := b.List(t.Context(), "gs://bucket/k"); return err },
	} {
		requests.Store(0)
		status, reason = 503, ""
		err := do()
		require.ErrorAs(t, err, &temp)
		require.Equal(t, 3*time.Second, temp.After)
		require.ErrorContains(t, err, "the message")
		require.EqualValues(t, 1, requests.Load())
		status, reason = 403, "userRateLimitExceeded"
		require.ErrorAs(t, do(), &temp)
		status, reason = 403, "forbidden"
		require.ErrorIs(t, do(), fs.ErrPermission)
	}
	status = 503
	err := store.WriteFile(t.Context(), remote.New(b, remote.Options{}), "gs://bucket/k", []byte("a"))
	require.ErrorContains(t, err, "the message")
	require.ErrorContains(t, err, "gs://bucket/k")
}

// TestCredentials: a key that Google refuses is an error without the key.
func TestCredentials(t *testing.T) {
	var assertions sync.Map
	token := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assertions.Store(r.FormValue("assertion"), true)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(400)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`))
	}))
	defer token.Close()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	private := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	file, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "a@b.c", "private_key": private, "private_key_id": "1", "token_uri": token.URL})
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, os.WriteFile(name, file, 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", name)
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = backend(t).Get(ctx, "gs://bucket/k", 0, 1, "")
	require.ErrorIs(t, err, fs.ErrPermission)
	require.ErrorContains(t, err, "invalid_grant")
	require.NotContains(t, err.Error(), private[100:150])
	var temp *remote.TemporaryError
	require.False(t, errors.As(err, &temp))
	assertions.Range(func(a, _ any) bool {
		require.NotContains(t, err.Error(), a)
		return true
	})

	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none"))
	_, err = New()
	require.ErrorContains(t, err, "gcs: credentials: ")
}

// TestMemory uploads a large object. The figures are in docs/stores.md.
func TestMemory(t *testing.T) {
	var got atomic.Int64
	b := handler(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/session" { // begins an upload
			w.Header().Set("Location", "http://"+r.Host+"/session")
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		at := got.Add(n)
		if r.Header.Get("Content-Range")[len(r.Header.Get("Content-Range"))-1] == '*' {
			w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", at-1))
			w.Header().Set("X-HTTP-Status-Code-Override", "308")
			return // with the status 200, as the client asks for
		}
		fmt.Fprintf(w, `{"size":"%d"}`, at)
	})
	const size = 512 << 20
	part := bytes.Repeat([]byte("infer"), 1<<20)
	w, err := b.Create(t.Context(), "gs://bucket/k")
	require.NoError(t, err)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, uint64(0) // the servers of other tests are in this process
	for n := 0; n < size; n += len(part) {
		_, err := w.Write(part)
		require.NoError(t, err)
		runtime.GC()
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
	}
	require.NoError(t, w.Close())
	require.GreaterOrEqual(t, got.Load(), int64(size))
	t.Logf("at most %.1f MiB of heap", (float64(peak)-float64(before))/(1<<20))
	require.Less(t, peak, before+(32<<20))
}
