package tokens

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// videoCase is a case of a file in testdata/videos, made by a processor of
// transformers (testdata/gen/importers/hf_video_tokens.py). Videos are the
// number of frames, fps, duration, height and width. Texts have the number of
// tokens and a digest; nil is a refused call.
type videoCase struct {
	Class, Error, Mask   string // mask: of all videos, VideoLLaMA 3
	Processor, Tokenizer json.RawMessage
	Videos               [][5]*float64
	Texts                [][2]any
	Sample               [][2]any
}

// files returns the files of the case.
func (c videoCase) files() Files {
	return Files{Processor: c.Processor, Tokenizer: c.Tokenizer, Tokens: map[string]string{newlines: "1"}}
}

// run computes the texts as a caller does.
func (c videoCase) run() ([]VideoText, error) {
	p, err := Parse(c.files())
	if err != nil {
		return nil, err
	}
	s, err := video.ImportSampling(c.Processor)
	if err != nil {
		return nil, err
	}
	var videos []Video
	mask := c.Mask
	for _, v := range c.Videos {
		m := video.Metadata{Frames: int(*v[0])}
		if v[1] != nil {
			m.FPS = *v[1]
		}
		if v[2] != nil {
			m.Duration = *v[2]
		}
		chosen, err := s.Sample(m)
		if err != nil {
			return nil, err
		}
		one := Video{Sampled: chosen, Height: int(*v[3]), Width: int(*v[4])}
		if mask != "" {
			processor, err := video.Import(c.Processor)
			if err != nil {
				return nil, err
			}
			g, _, err := processor.Grid(len(chosen.Indices), one.Height, one.Width)
			if err != nil {
				return nil, err
			}
			n := g.Time * g.Rows * g.Columns / (g.Merge * g.Merge)
			for _, b := range mask[:n] {
				one.Mask = append(one.Mask, b == '1')
			}
			mask = mask[n:]
		}
		videos = append(videos, one)
	}
	return p.Videos(videos...)
}

// TestVideoGoldens compares texts with those of the real processors.
func TestVideoGoldens(t *testing.T) {
	require.NotEmpty(t, VideoClasses())
	for _, name := range VideoClasses() {
		t.Run(name, func(t *testing.T) {
			var cases []videoCase
			readJSON(t, "videos/"+strings.TrimSuffix(name, suffix), &cases)
			equal, refused := 0, 0
			for i, c := range cases {
				l, err := c.run()
				if c.Texts == nil {
					require.Error(t, err, "case %d: %s", i, c.Error)
					refused++
					continue
				}
				require.NoError(t, err, "case %d: %v", i, c.Videos)
				require.Len(t, l, len(c.Texts))
				if c.Sample != nil {
					var want strings.Builder
					for _, r := range c.Sample {
						want.WriteString(strings.Repeat(r[0].(string), int(r[1].(float64))))
					}
					require.True(t, want.String() == l[0].Text, "case %d: %.300q, want %.300q", i, l[0].Text, want.String())
				}
				for j, want := range c.Texts {
					require.EqualValues(t, want[0], l[j].Tokens, "case %d", i)
					sum := sha256.Sum256([]byte(l[j].Text))
					require.Equal(t, want[1], hex.EncodeToString(sum[:])[:16], "case %d", i)
				}
				equal++
			}
			require.GreaterOrEqual(t, equal, 20)
			t.Log(equal, "calls equal,", refused, "refused")
		})
	}
}

// TestWords compares with num2words (testdata/gen/importers/hf_video_words.py).
func TestWords(t *testing.T) {
	var l map[int]string
	readJSON(t, "videos/words", &l)
	require.Greater(t, len(l), 400)
	for n, want := range l {
		require.Equal(t, want, words(n))
	}
	require.Equal(t, "0:01:05", clock(65))
	require.Equal(t, "1 day, 0:00:00", clock(86400))
	require.Equal(t, "11574 days, 1:46:40", clock(1e9))
}

// TestVideoErrors: what has no rules, or is outside its range, is an error that
// says so.
func TestVideoErrors(t *testing.T) {
	const file = `{"processor_class": %q, "image_processor": {"image_processor_type": %q}%s}`
	parse := func(class, image, more, call string) *Processor {
		f := Files{Processor: fmt.Appendf(nil, file, class, image, more), Tokenizer: []byte(`{"image_token": "<im>"}`)}
		if call != "" {
			f.Call = []byte(call)
		}
		p, err := Parse(f)
		require.NoError(t, err)
		return p
	}
	const qwen = `, "video_processor": {"video_processor_type": "Qwen2VLVideoProcessor"}`
	one := Video{Sampled: video.Sampled{Metadata: video.Metadata{Frames: 1}, Indices: []int{0}}, Height: 28, Width: 28}
	for _, c := range []struct {
		p    *Processor
		kind error
		want string
	}{
		{parse("ColQwen2Processor", "Qwen2VLImageProcessor", qwen, ""), importer.ErrUnsupported, `"ColQwen2Processor": has no rules for the text of a video`},
		{parse("Qwen2VLProcessor", "Qwen2VLImageProcessor", "", ""), importer.ErrValue, "video_processor: missing"},
		{parse("Qwen2VLProcessor", "Qwen2VLImageProcessor", `, "video_processor": {"video_processor_type": "Qwen3VLVideoProcessor"}`, ""), importer.ErrUnsupported, "Qwen2VLVideoProcessor only"},
		{parse("Qwen2VLProcessor", "Qwen2VLImageProcessor", `, "video_processor": {"video_processor_type": "Qwen2VLVideoProcessor", "patch_size": 0}`, ""), importer.ErrValue, "patch_size: 0"},
		{
			parse("NemotronH_Omni_Reasoning_V3Processor", "NemotronH_Omni_Reasoning_V3ImageProcessor", `, "video_processor": {"video_processor_type": "NemotronH_Omni_Reasoning_V3VideoProcessor", "norm_mean": [0, 0, 0], "norm_std": [1, 1, 1], "do_sample_frames": true}`, ""),
			importer.ErrValue, "do_sample_frames: true",
		},
		{parse("Qwen2VLProcessor", "Qwen2VLImageProcessor", qwen, `{"min_pixels": 100}`), importer.ErrUnsupported, "min_pixels"},
	} {
		_, err := c.p.Videos(one)
		require.ErrorIs(t, err, c.kind)
		require.ErrorContains(t, err, c.want)
		_, err = c.p.Images([2]int{28, 28})
		require.NoError(t, err)
	}

	p := parse("Qwen2VLProcessor", "Qwen2VLImageProcessor", qwen, "")
	l, err := p.Videos(one)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("<|video_pad|>", l[0].Tokens), l[0].Text)
	for want, change := range map[string]func(v *Video){
		"0 x 28":               func(v *Video) { v.Height = 0 },
		"0 chosen frames":      func(v *Video) { v.Indices = nil },
		"the number -1":        func(v *Video) { v.Indices = []int{-1} },
		"fps -1":               func(v *Video) { v.FPS = -1 },
		"duration 1e+10":       func(v *Video) { v.Duration = 1e10 },
		"more than 200":        func(v *Video) { v.Width = 28000 },
		"67108864 bytes":       func(v *Video) { v.Indices = make([]int, video.MaxFrames) },
		"the number 167772160": func(v *Video) { v.Indices = []int{167772160} },
	} {
		v := one
		change(&v)
		_, err := p.Videos(v)
		require.ErrorContains(t, err, want)
	}
	_, err = p.Videos(make([]Video, 257)...)
	require.ErrorContains(t, err, "want at most 256")
}
