package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/eager"
	"github.com/infer-prep/infer-prep/tensor"
	tr "github.com/infer-prep/infer-prep/transforms"
)

func start(t *testing.T, o options) string {
	h, err := newServer(o)
	require.NoError(t, err)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/tensor"
}

func post(t *testing.T, url string, body []byte) (int, []byte) {
	r, err := http.Post(url, "application/octet-stream", bytes.NewReader(body))
	require.NoError(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, b
}

// TestConcurrent sends more requests than there are Runners; every answer has
// the bytes of the eager engine.
func TestConcurrent(t *testing.T) {
	url := start(t, options{runners: 2, maxBytes: 16 << 20, wait: time.Minute})
	var images, want [][]byte
	for _, name := range []string{"jpeg_large.jpg", "png_rgb8.png"} {
		image, err := os.ReadFile("../../testdata/images/" + name)
		require.NoError(t, err)
		x, err := eager.Apply(image, tr.NewDecode(), tr.NewResizeShortest(256), tr.NewCenterCrop(224, 224), tr.NewToTensor(),
			tr.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
		require.NoError(t, err)
		var npy bytes.Buffer
		require.NoError(t, tensor.WriteNPY(&npy, x))
		images, want = append(images, image), append(want, npy.Bytes())
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			status, body := post(t, url, images[i%2])
			if status != http.StatusOK || !bytes.Equal(body, want[i%2]) {
				t.Errorf("request %d: status %d, %d bytes, want 200 and the eager tensor", i, status, len(body))
			}
		})
	}
	wg.Wait()
}

func TestErrors(t *testing.T) {
	image, err := os.ReadFile("../../testdata/images/jpeg_large.jpg")
	require.NoError(t, err)
	url := start(t, options{runners: 1, maxBytes: int64(len(image)), wait: time.Minute, limits: codec.Limits{Pixels: 1e6}})
	huge, err := os.ReadFile("../../testdata/images/jpeg_large.jpg")
	require.NoError(t, err)
	sof := bytes.Index(huge, []byte{0xFF, 0xC0})
	require.Positive(t, sof)
	copy(huge[sof+5:], []byte{0xEA, 0x60, 0xEA, 0x60}) // 60000 x 60000
	for _, c := range []struct {
		name   string
		body   []byte
		status int
		text   string
	}{
		{"empty", nil, http.StatusUnsupportedMediaType, "empty input"},
		{"text", []byte("hello, this is no image"), http.StatusUnsupportedMediaType, "unknown format"},
		{"known, not supported", []byte("%PDF-1.7 and so on"), http.StatusUnsupportedMediaType, "PDF"},
		{"cut", image[:200], http.StatusBadRequest, "jpeg"},
		{"body too large", append(bytes.Clone(image), 0), http.StatusRequestEntityTooLarge, "too large"},
		{"image too large", huge, http.StatusRequestEntityTooLarge, "60000x60000"},
		{"good, after all of these", image, http.StatusOK, "NUMPY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := post(t, url, c.body)
			require.Equal(t, c.status, status, "%s", body)
			require.Contains(t, string(body), c.text)
		})
	}
}

func TestBusy(t *testing.T) {
	plan, err := datagraph.Compile(datagraph.New(), datagraph.CompileOptions{})
	require.NoError(t, err)
	s := &server{options{wait: time.Millisecond}, plan.NewPool(datagraph.PoolOptions{Jobs: 1})}
	require.NoError(t, s.pool.Do(t.Context(), func(*datagraph.Runner) error {
		_, err = s.preprocess(t.Context(), nil)
		return nil
	}))
	require.ErrorIs(t, err, errBusy)
	w := httptest.NewRecorder()
	fail(w, err)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
}
