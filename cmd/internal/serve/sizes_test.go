package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

// TestSizes requests valid and invalid sizes.
func TestSizes(t *testing.T) {
	ask := func(base string, sizes ...string) (int, string) {
		r, err := http.Get(base + "/sizes?" + url.Values{"size": sizes}.Encode())
		require.NoError(t, err)
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return r.StatusCode, string(b)
	}
	o := options(t)
	o.Plan = compile(t, "yolo", codec.Limits{})
	_, base := start(t, o)
	status, body := ask(base, "480x640", "0x7", "99999999x5")
	require.Equal(t, http.StatusOK, status, body)
	var answer struct {
		Sizes []struct {
			Size    []int
			Outputs map[string]struct {
				DType string
				Shape []int
			}
			Error string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	require.Len(t, answer.Sizes, 3)
	require.Equal(t, []int{480, 640}, answer.Sizes[0].Size)
	require.Len(t, answer.Sizes[0].Outputs, 1)
	require.Equal(t, []int{3, 640, 640}, answer.Sizes[0].Outputs["images"].Shape)
	require.Equal(t, "float32", answer.Sizes[0].Outputs["images"].DType)
	require.Contains(t, answer.Sizes[1].Error, "want 1 or more a side")
	require.Contains(t, answer.Sizes[2].Error, "want sides of 1 to 16777216")

	o.SideOutputs = true
	_, base = start(t, o)
	_, body = ask(base, "480x640")
	require.Contains(t, body, `"pad":{"dtype":"int32","shape":[4],"values":[80,80,0,0]}`)

	for want, sizes := range map[string][]string{
		"0 sizes, want 1 to 1024":                            nil,
		"1025 sizes, want 1 to 1024":                         strings.Split(strings.Repeat("4x4 ", 1025)[:4*1025-1], " "),
		`size \"4\": want HEIGHTxWIDTH in pixels`:            {"4x4", "4"},
		`size \"99999999999999999999x1\": want HEIGHTxWIDTH`: {"99999999999999999999x1"},
		`size \"-4x4\"`:                                      {"-4x4"},
	} {
		status, body := ask(base, sizes...)
		require.Equal(t, http.StatusBadRequest, status, body)
		require.Contains(t, body, want)
	}
	r, err := http.Post(base+"/sizes", "", nil)
	require.NoError(t, err)
	r.Body.Close()
	require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode)
}
