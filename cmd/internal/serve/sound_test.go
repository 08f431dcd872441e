package serve

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/modelbundle"
	_ "github.com/infer-prep/infer-prep/sound/all"
	"github.com/infer-prep/infer-prep/tensor"
)

// post sends a body and returns the status, the response's JSON object and what
// follows it.
func post(t *testing.T, url, kind string, body []byte) (status int, head, tail []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	require.NoError(t, err)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	r, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer r.Body.Close()
	all, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	n := len(all)
	if h := r.Header.Get(headerLength); h != "" {
		n, err = strconv.Atoi(h)
		require.NoError(t, err)
	}
	return r.StatusCode, all[:n], all[n:]
}

// TestSounds serves the graph of a bundle of sounds: its golden sounds get the
// tensors of the bundle.
func TestSounds(t *testing.T) {
	raw, err := os.ReadFile("../../../testdata/bundle/whisper.bundle")
	require.NoError(t, err)
	b, err := modelbundle.Open(raw, modelbundle.Limits{})
	require.NoError(t, err)
	o := options(t)
	o.Plan, err = datagraph.Compile(b.Graph(), datagraph.CompileOptions{})
	require.NoError(t, err)
	o.Noun = "sound"
	_, url := start(t, o)
	goldens, err := b.Goldens()
	require.NoError(t, err)
	columns := o.Plan.Outputs()

	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	var inJSON []string
	size := 0
	for _, g := range goldens {
		for _, kind := range []string{"", "audio/wav", "audio/flac", "application/octet-stream"} {
			status, head, tail := post(t, url+"/infer", kind, g.Input)
			require.Equal(t, http.StatusOK, status, "%s", head)
			x, err := tensor.New(g.Outputs[0].Desc)
			require.NoError(t, err)
			require.Len(t, tail, len(x.Data))
			copy(x.Data, tail)
			require.NoError(t, g.Compare(columns, []*tensor.Tensor{x}))
			size = len(tail)
		}
		part, err := w.CreateFormFile("sound", g.Name)
		require.NoError(t, err)
		_, err = part.Write(g.Input)
		require.NoError(t, err)
		inJSON = append(inJSON, base64.StdEncoding.EncodeToString(g.Input))
	}
	require.NoError(t, w.Close())
	status, head, tail := post(t, url+"/infer?details=true", w.FormDataContentType(), form.Bytes())
	require.Equal(t, http.StatusOK, status, "%s", head)
	require.Len(t, tail, 3*size)
	var details struct {
		Images json.RawMessage
		Sounds []soundJSON
	}
	require.NoError(t, json.Unmarshal(head, &details))
	require.Empty(t, details.Images)
	require.Len(t, details.Sounds, 3)
	require.Equal(t, 3000, details.Sounds[0].Samples) // noise.flac
	require.Equal(t, 1, details.Sounds[0].Channels)
	require.Len(t, details.Sounds[0].SHA256, 64)

	request := fmt.Sprintf(`{"inputs":[{"name":"sound","shape":[3],"datatype":"BYTES","data":["%s"]}],"parameters":{"binary_data_output":true}}`, strings.Join(inJSON, `","`))
	status, head, again := post(t, url+"/infer", "application/json", []byte(request))
	require.Equal(t, http.StatusOK, status, "%s", head)
	require.Equal(t, tail, again)

	// Metrics count the samples.
	r, err := http.Get(strings.TrimSuffix(url, "/v2/models/m") + "/metrics") //nolint:noctx // the test's own server
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("\ninfer_prep_sound_samples_total %d\n", (4+1+1)*(3000+4000+2000)))
	require.Contains(t, string(text), "\ninfer_prep_images_total 18\n")

	// Errors.
	wrong := bytes.Clone(goldens[1].Input)
	copy(wrong[24:], "\x40\x1f\x00\x00") // 8000 Hz
	for _, c := range []struct {
		kind   string
		body   []byte
		status int
		text   string
	}{
		{"audio/wav", wrong, http.StatusUnsupportedMediaType, "the sampling rate is 8000 Hz, the op decode_sound wants 16000 Hz"},
		{"", image(t, "png_rgb8.png"), http.StatusUnsupportedMediaType, "a PNG image: want one of the linked formats: aiff, au, flac, mp3, wav"},
		{"", []byte("hello"), http.StatusUnsupportedMediaType, "the body is taken for one sound: "},
		{"", goldens[1].Input[:20], http.StatusBadRequest, "wav"},
		{"audio/wav", nil, http.StatusBadRequest, ""},
		{"video/mp4", wrong, http.StatusUnsupportedMediaType, "audio/*"},
		{"application/json", []byte(`{"inputs":[{"name":"sound","shape":[2],"datatype":"BYTES","data":["` + inJSON[0] + `"]}]}`), http.StatusBadRequest, "1 sounds, but the shape is [2]"},
		{"application/json", []byte(`{"inputs":[{"name":"sound","shape":[1],"datatype":"FP32","data":[]}]}`), http.StatusBadRequest, "want BYTES, encoded sounds"},
		{"application/json", []byte(`{"inputs":[{"name":"sound","shape":[2],"datatype":"BYTES","data":["` + inJSON[0] + `","aGVsbG8="]}]}`), http.StatusUnsupportedMediaType, "sound 1: "},
	} {
		status, head, _ := post(t, url+"/infer", c.kind, c.body)
		require.Equal(t, c.status, status, "%s", head)
		var e struct{ Error string }
		require.NoError(t, json.Unmarshal(head, &e))
		require.Contains(t, e.Error, c.text)
	}
	r, err = http.Get(url + "/sizes?size=4x5") //nolint:noctx // the test's own server
	require.NoError(t, err)
	defer r.Body.Close()
	require.Equal(t, http.StatusBadRequest, r.StatusCode)
}
