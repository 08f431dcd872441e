package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	goimage "image"
	"image/png"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer/hf/tokens"
)

// TestDetails: details=true describes the images of every form of request, in
// order, and changes nothing else.
func TestDetails(t *testing.T) {
	o := options(t)
	o.Tokens = qwen2VL(t, "T", 1<<24)
	_, url := start(t, o)
	a, b := image(t, "jpeg_large.jpg"), image(t, "png_rgb8.png")
	sum := func(b []byte) string {
		h := sha256.Sum256(b)
		return hex.EncodeToString(h[:])
	}
	one := fmt.Sprintf(`{"size":[310,420],"sha256":%q,"num_image_tokens":165,"text":%q}`, sum(a), strings.Repeat("T", 165))
	two := fmt.Sprintf(`%s,{"size":[23,37],"sha256":%q,"num_image_tokens":6,"text":"TTTTTT"}`, one, sum(b))
	body, n := binaryBody(`,"outputs":[{"name":"image","parameters":{"binary_data":true}}]`, a, b)
	images := func(r answered) string {
		head := r.body
		if h := r.header.Get(headerLength); h != "" {
			n, err := strconv.Atoi(h)
			require.NoError(t, err)
			head = r.body[:n]
		}
		var j struct{ Images json.RawMessage }
		require.NoError(t, json.Unmarshal(head, &j))
		return string(j.Images)
	}
	for _, c := range []struct {
		body   []byte
		header int
		more   []string
		want   string
	}{
		{a, -1, nil, one},
		{multipartBody("image", a, b), -1, []string{"Content-Type", "multipart/form-data; boundary=x"}, two},
		{body, n, nil, two},
		{jsonBody("", a, b), -1, nil, two},
	} {
		plain := send(t, url+"/infer", c.body, c.header, c.more...)
		require.Empty(t, images(plain))
		r := send(t, url+"/infer?details=true", c.body, c.header, c.more...)
		require.Equal(t, "["+c.want+"]", images(r))
		require.Equal(t, plain.outputs(t), r.outputs(t))
	}
	r := send(t, url+"/infer?details=yes", a, -1)
	require.Equal(t, http.StatusBadRequest, r.status)
	require.Contains(t, r.error(t), `details "yes": want true or false`)
	var wide bytes.Buffer
	require.NoError(t, png.Encode(&wide, goimage.NewGray(goimage.Rect(0, 0, 300, 1))))
	r = send(t, url+"/infer?details=true", wide.Bytes(), -1)
	require.Equal(t, http.StatusBadRequest, r.status)
	require.Contains(t, r.error(t), "tokens: ")

	r2, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/sizes?size=310x420&size=1x300", nil)
	require.NoError(t, err)
	body = do(t, r2).body
	require.Contains(t, string(body), `"num_image_tokens":165,"text":"TTT`)
	require.Contains(t, string(body), `{"size":[1,300],"error":"`)
}

// qwen2VL returns the tokens of Qwen2-VL.
func qwen2VL(t *testing.T, token string, maxPixels int) *tokens.Processor {
	t.Helper()
	p, err := tokens.Parse(tokens.Files{
		Processor: fmt.Appendf(nil, `{"processor_class":"Qwen2VLProcessor","image_processor":{"image_processor_type":"Qwen2VLImageProcessor",
			"patch_size":14,"merge_size":2,"size":{"shortest_edge":3136,"longest_edge":%d}}}`, maxPixels),
		Tokens: map[string]string{"image_token": token},
	})
	require.NoError(t, err)
	return p
}

// TestDetailsHeld: the text of tokens counts towards the memory of requests.
func TestDetailsHeld(t *testing.T) {
	o := options(t)
	o.Held = 4 << 20
	o.Tokens = qwen2VL(t, strings.Repeat("T", 1<<14), 1<<24)
	_, url := start(t, o)
	a := image(t, "jpeg_large.jpg")
	require.Equal(t, http.StatusOK, send(t, url+"/infer", a, -1).status)
	require.Equal(t, http.StatusRequestEntityTooLarge, send(t, url+"/infer?details=true", a, -1).status)
}
