package azure

import (
	"bufio"
	"context"
	"crypto/md5"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdkblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/storetest"
)

// Azurite's account, which its documentation states.
const (
	account = "devstoreaccount1"
	key     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// server starts Azurite with one container, and returns its address.
func server(t *testing.T) string {
	t.Helper()
	if os.Getenv("INFER_PREP_STORE_TEST") == "" {
		t.Skip("needs Azurite: INFER_PREP_STORE_TEST is not set (make store-test sets it)")
	}
	c := exec.Command("./azurite.sh")
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	listens := regexp.MustCompile(`listens on (http://127\.0\.0\.1:\d+)`)
	for s := bufio.NewScanner(out); s.Scan(); {
		if m := listens.FindStringSubmatch(s.Text()); m != nil {
			endpoint := m[1] + "/" + account
			t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "")
			t.Setenv("AZURE_STORAGE_SAS_TOKEN", "")
			t.Setenv("AZURE_STORAGE_ACCOUNT", account)
			t.Setenv("AZURE_STORAGE_KEY", key)
			t.Setenv("AZURE_STORAGE_SERVICE_ENDPOINT", endpoint)
			cl, err := client(&sdk.ClientOptions{})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = cl.CreateContainer(ctx, "bucket", nil)
			require.NoError(t, err)
			return endpoint
		}
	}
	t.Fatal("azurite.sh has ended")
	return ""
}

func backend(t *testing.T) remote.Backend {
	t.Helper()
	b, err := New()
	require.NoError(t, err)
	return b
}

// TestBackend runs all that needs the server, one after another.
func TestBackend(t *testing.T) {
	endpoint := server(t)
	b := backend(t)
	st := remote.New(b, remote.Options{})
	t.Run("Suite", func(t *testing.T) {
		storetest.Run(t, storetest.Config{Store: st, Folder: "az://bucket/a folder"})
	})
	t.Run("Counts", func(t *testing.T) { // the requests and bytes of uploads
		st := remote.New(b, remote.Options{})
		const size = 2*block + 100
		require.NoError(t, store.WriteFile(t.Context(), st, "az://bucket/big", make([]byte, size)))
		require.Equal(t, remote.Stats{Requests: 4, Sent: size}, st.Stats(), "three blocks and their list")
	})
	t.Run("URI", func(t *testing.T) {
		require.NoError(t, store.WriteFile(t.Context(), store.URI, "az://bucket/a", []byte("a")))
		b, err := store.ReadFile(t.Context(), store.URI, "az://bucket/a", nil, 10)
		require.NoError(t, err)
		require.Equal(t, "a", string(b))
		_, err = store.URI.Stat(t.Context(), "az://other/a")
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("Get", func(t *testing.T) {
		require.NoError(t, store.WriteFile(t.Context(), st, "az://bucket/k", []byte("content")))
		o, err := b.Get(t.Context(), "az://bucket/k", 2, 3, "")
		require.NoError(t, err)
		got, err := io.ReadAll(o.Body)
		require.NoError(t, err)
		require.NoError(t, o.Body.Close())
		require.Equal(t, "nte", string(got))
		require.EqualValues(t, 7, o.Size)
		require.Nil(t, o.Sum)
		_, err = b.Get(t.Context(), "az://bucket/k", 2, 3, o.Version)
		require.NoError(t, err)
		require.NoError(t, store.WriteFile(t.Context(), st, "az://bucket/k", []byte("changed")))
		_, err = b.Get(t.Context(), "az://bucket/k", 2, 3, o.Version)
		require.ErrorIs(t, err, remote.ErrChanged)
	})
	t.Run("MD5", func(t *testing.T) {
		cl, err := client(&sdk.ClientOptions{})
		require.NoError(t, err)
		sum := md5.Sum([]byte("content"))
		blob := cl.NewContainerClient("bucket").NewBlockBlobClient("sum")
		_, err = blob.UploadBuffer(t.Context(), []byte("content"), nil)
		require.NoError(t, err)
		for _, right := range []bool{true, false} {
			if !right { // the service does not check what it is told here
				sum[0] ^= 1
			}
			_, err = blob.SetHTTPHeaders(t.Context(), sdkblob.HTTPHeaders{BlobContentMD5: sum[:]}, nil)
			require.NoError(t, err)
			o, err := b.Get(t.Context(), "az://bucket/sum", 0, 100, "")
			require.NoError(t, err)
			require.NoError(t, o.Body.Close())
			if o.Sum == nil {
				t.Skip("the server tells no MD5 of a blob in a range's answer")
			}
			require.Equal(t, sum[:], o.Sum)
			_, err = store.ReadFile(t.Context(), remote.New(b, remote.Options{Attempts: 2}), "az://bucket/sum", nil, 100)
			if right {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, remote.ErrChecksum)
			}
		}
	})
	t.Run("Cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := b.Create(ctx, "az://bucket/cancelled")
		require.NoError(t, err)
		_, err = w.Write(make([]byte, 20<<20))
		require.NoError(t, err)
		cancel()
		require.ErrorIs(t, w.Close(), context.Canceled)
		_, err = b.Stat(t.Context(), "az://bucket/cancelled")
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("Memory", func(t *testing.T) {
		const size = 256 << 20
		part := make([]byte, 4<<20)
		w, err := b.Create(t.Context(), "az://bucket/large")
		require.NoError(t, err)
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		before, peak := m.HeapAlloc, uint64(0) // the store of the other tests has blocks
		for range size / len(part) {
			_, err := w.Write(part)
			require.NoError(t, err)
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
		require.NoError(t, w.Close())
		t.Logf("at most %.1f MiB of heap, besides 2 buffers of 8 MiB outside of it", (float64(peak)-float64(before))/(1<<20))
		require.Less(t, peak, before+(32<<20))
	})
	t.Run("Credentials", func(t *testing.T) {
		var temp *remote.TemporaryError
		refused := func(secret string) {
			t.Helper()
			b := backend(t)
			_, err := b.Get(t.Context(), "az://bucket/k", 0, 1, "")
			require.ErrorIs(t, err, fs.ErrPermission)
			require.NotContains(t, err.Error(), secret)
			_, err = b.List(t.Context(), "az://bucket")
			require.ErrorIs(t, err, fs.ErrPermission)
			err = store.WriteFile(t.Context(), remote.New(b, remote.Options{}), "az://bucket/k", []byte("x"))
			require.ErrorIs(t, err, fs.ErrPermission)
			require.NotContains(t, err.Error(), secret)
		}
		t.Setenv("AZURE_STORAGE_KEY", "c2VjcmV0")
		refused("c2VjcmV0")

		t.Setenv("AZURE_STORAGE_KEY", key)
		cl, err := client(&sdk.ClientOptions{})
		require.NoError(t, err)
		u, err := cl.GetSASURL(sas.AccountResourceTypes{Container: true, Object: true}, sas.AccountPermissions{Read: true, List: true, Write: true, Create: true}, time.Now().Add(time.Hour), nil)
		require.NoError(t, err)
		_, token, _ := strings.Cut(u, "?")
		t.Setenv("AZURE_STORAGE_KEY", "")
		t.Setenv("AZURE_STORAGE_SAS_TOKEN", token)
		got, err := store.ReadFile(t.Context(), remote.New(backend(t), remote.Options{}), "az://bucket/k", nil, 10)
		require.NoError(t, err)
		require.Equal(t, "changed", string(got))
		t.Setenv("AZURE_STORAGE_SAS_TOKEN", strings.Replace(token, "sig=", "sig=AAAA", 1))
		refused("sig=")

		t.Setenv("AZURE_STORAGE_SERVICE_ENDPOINT", "http://127.0.0.1:1/account")
		_, err = backend(t).Get(t.Context(), "az://bucket/k", 0, 1, "")
		require.ErrorAs(t, err, &temp)
		require.NotContains(t, err.Error(), "sig")

		t.Setenv("AZURE_STORAGE_SAS_TOKEN", "")
		t.Setenv("AZURE_STORAGE_ACCOUNT", "")
		t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "DefaultEndpointsProtocol=http;AccountName="+account+";AccountKey="+key+";BlobEndpoint="+endpoint+";")
		_, err = backend(t).Stat(t.Context(), "az://bucket/k")
		require.NoError(t, err)
	})
}

// TestSettings tests that errors of wrong settings do not contain secrets.
func TestSettings(t *testing.T) {
	for _, v := range []string{"CONNECTION_STRING", "ACCOUNT", "KEY", "SAS_TOKEN", "SERVICE_ENDPOINT"} {
		t.Setenv("AZURE_STORAGE_"+v, "")
	}
	_, err := New()
	require.EqualError(t, err, "azure: no account: want AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "a")
	t.Setenv("AZURE_STORAGE_KEY", "not base64!")
	_, err = New()
	require.EqualError(t, err, "azure: invalid AZURE_STORAGE_KEY: want base64")
	t.Setenv("AZURE_STORAGE_SERVICE_ENDPOINT", "https://h/?sig=secret")
	_, err = New()
	require.ErrorContains(t, err, "invalid AZURE_STORAGE_SERVICE_ENDPOINT")
	require.NotContains(t, err.Error(), "secret")
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountKey=secret")
	_, err = New()
	require.ErrorContains(t, err, "invalid AZURE_STORAGE_CONNECTION_STRING")
	require.NotContains(t, err.Error(), "secret")
}

// TestTemporary: the client makes one attempt for a read, and tells how long to
// wait.
func TestTemporary(t *testing.T) {
	var requests atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Retry-After", "3")
		w.Header().Set("X-Ms-Error-Code", "ServerBusy")
		w.WriteHeader(503)
	}))
	defer s.Close()
	for _, v := range []string{"CONNECTION_STRING", "SAS_TOKEN"} {
		t.Setenv("AZURE_STORAGE_"+v, "")
	}
	t.Setenv("AZURE_STORAGE_ACCOUNT", account)
	t.Setenv("AZURE_STORAGE_KEY", key)
	t.Setenv("AZURE_STORAGE_SERVICE_ENDPOINT", s.URL+"/"+account)
	_, err := backend(t).Get(t.Context(), "az://bucket/k", 0, 1, "")
	var temp *remote.TemporaryError
	require.ErrorAs(t, err, &temp)
	require.Equal(t, 3*time.Second, temp.After)
	require.EqualValues(t, 1, requests.Load())
}
