package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDetails: details=true describes the images of every form of request, in
// order, and changes nothing else.
func TestDetails(t *testing.T) {
	o := options(t)
	o.Tokens = func(sizes [][2]int) ([]Tokens, error) {
		var l []Tokens
		for i, s := range sizes {
			if s[0] == s[1] {
				return nil, errors.New("a square")
			}
			l = append(l, Tokens{s[0] * s[1], fmt.Sprintf("<%d>\n", i)})
		}
		return l, nil
	}
	_, url := start(t, o)
	a, b := image(t, "jpeg_large.jpg"), image(t, "png_rgb8.png")
	sum := func(b []byte) string {
		h := sha256.Sum256(b)
		return hex.EncodeToString(h[:])
	}
	one := fmt.Sprintf(`{"size":[310,420],"sha256":%q,"num_image_tokens":130200,"text":"\u003c0\u003e\n"}`, sum(a))
	two := fmt.Sprintf(`%s,{"size":[23,37],"sha256":%q,"num_image_tokens":851,"text":"\u003c1\u003e\n"}`, one, sum(b))
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
	r = send(t, url+"/infer?details=true", image(t, "png_gray16_key255.png"), -1)
	require.Equal(t, http.StatusBadRequest, r.status)
	require.Contains(t, r.error(t), "tokens: a square")
}

// TestDetailsHeld: the text of tokens counts towards the memory of requests.
func TestDetailsHeld(t *testing.T) {
	o := options(t)
	o.Held = 4 << 20
	o.Tokens = func(sizes [][2]int) ([]Tokens, error) {
		return []Tokens{{1, string(make([]byte, 1<<20))}}, nil
	}
	_, url := start(t, o)
	a := image(t, "jpeg_large.jpg")
	require.Equal(t, http.StatusOK, send(t, url+"/infer", a, -1).status)
	require.Equal(t, http.StatusRequestEntityTooLarge, send(t, url+"/infer?details=true", a, -1).status)
}
