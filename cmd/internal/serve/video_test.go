package serve

import (
	"bytes"
	"encoding/json"
	goimage "image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/png"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/tensor"
)

// frames returns PNG files of one size and n colours, and a GIF of them with a
// delay of 0.25 s.
func frames(t *testing.T, n int) (files [][]byte, animation []byte) {
	var g gif.GIF
	for i := range n {
		p := goimage.NewPaletted(goimage.Rect(0, 0, 30, 20), palette.Plan9)
		rgb := goimage.NewRGBA(p.Rect)
		for y := range 20 {
			for x := range 30 {
				p.SetColorIndex(x, y, uint8(i*20+x+y))
				r, g, b, _ := palette.Plan9[uint8(i*20+x+y)].RGBA()
				rgb.Set(x, y, color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255})
			}
		}
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, rgb))
		files = append(files, b.Bytes())
		g.Image, g.Delay = append(g.Image, p), append(g.Delay, 25)
	}
	var b bytes.Buffer
	require.NoError(t, gif.EncodeAll(&b, &g))
	return files, b.Bytes()
}

// TestVideo: every form of a request with frames gives the outputs of package
// video, and so does an animation.
func TestVideo(t *testing.T) {
	config := []byte(`{"video_processor_type": "Qwen2VLVideoProcessor", "do_sample_frames": true, "fps": 2, "min_frames": 2, "size": {"shortest_edge": 784, "longest_edge": 7840}}`)
	p, err := video.Import(config)
	require.NoError(t, err)
	o := options(t)
	o.Video = p
	_, url := start(t, o)
	files, animation := frames(t, 8)
	want, err := p.NewRunner(codec.Limits{}).Run(video.Metadata{Frames: 8, FPS: 4, Duration: 2}, func(i int) ([]byte, error) { return files[i], nil })
	require.NoError(t, err)
	require.Equal(t, "int64 (3,)", want[1].Desc.String())
	raw := func(x *tensor.Tensor) []byte {
		var b bytes.Buffer
		require.NoError(t, tensor.WriteRaw(&b, x))
		return b.Bytes()
	}
	values, grid := raw(want[0]), raw(want[1])

	both := append(bytes.Clone(values), grid...)
	form := []string{"Content-Type", "multipart/form-data; boundary=x"}
	r := send(t, url+"/video?fps=4&duration=2&details=true", multipartBody("image", files...), -1, form...)
	require.Equal(t, http.StatusOK, r.status, string(r.body))
	require.True(t, bytes.HasSuffix(r.body, both))
	require.Contains(t, string(r.body), `"video":{"total_num_frames":8,"fps":4,"duration":2,"frames_indices":[0,2,4,6],"timestamps":[0,0.5,1,1.5]}`)
	require.Contains(t, string(r.body), `{"name":"video_grid_thw","datatype":"INT64","shape":[1,3]`)

	// The rate and the duration are those of the file.
	r = send(t, url+"/video", animation, -1)
	require.Equal(t, http.StatusOK, r.status, string(r.body))
	require.True(t, bytes.HasSuffix(r.body, both))
	require.NotContains(t, string(r.body), `"video":`)

	// An output by name, in JSON.
	r = send(t, url+"/video?fps=4&duration=2", jsonBody(`,"outputs":[{"name":"video_grid_thw"}]`, files...), -1)
	var j struct {
		Outputs []struct {
			Name string
			Data []int64
		}
	}
	require.NoError(t, json.Unmarshal(r.body, &j))
	require.Len(t, j.Outputs, 1)
	require.Equal(t, tensor.Cast[int64](grid), j.Outputs[0].Data)

	small, _ := frames(t, 1)
	var other bytes.Buffer
	require.NoError(t, png.Encode(&other, goimage.NewGray(goimage.Rect(0, 0, 9, 9))))
	for _, c := range []struct {
		query  string
		frames [][]byte
		status int
		text   string
	}{
		{"?fps=4", [][]byte{files[0], other.Bytes()}, http.StatusBadRequest, "want one size"},
		{"", files, http.StatusBadRequest, "fps"},
		{"?fps=0", files, http.StatusBadRequest, `fps "0": want a number above 0`},
		{"?duration=NaN", files, http.StatusBadRequest, `duration "NaN"`},
		{"?fps=4", [][]byte{small[0], small[0][:40]}, http.StatusBadRequest, "frame 1"},
		{"?fps=4&details=1", files, http.StatusBadRequest, "details"},
	} {
		r := send(t, url+"/video"+c.query, multipartBody("image", c.frames...), -1, form...)
		require.Equal(t, c.status, r.status, c.query)
		require.Contains(t, r.error(t), c.text)
	}
	r = send(t, url+"/video?fps=4", jsonBody(`,"outputs":[{"name":"image"}]`, files...), -1)
	require.Contains(t, r.error(t), `unknown output "image"`)
	r = send(t, url+"/video?fps=4", []byte("no image"), -1)
	require.Equal(t, http.StatusUnsupportedMediaType, r.status)

	// Images are as before.
	require.Equal(t, http.StatusOK, send(t, url+"/infer", image(t, "jpeg_large.jpg"), -1).status)
	_, plain := start(t, options(t))
	require.Equal(t, http.StatusNotFound, send(t, plain+"/video", animation, -1).status)
}
