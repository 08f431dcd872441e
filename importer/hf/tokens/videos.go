package tokens

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// Video describes a video of a call.
type Video struct {
	// Sampled are the chosen frames. video.Sampling.Sample of the model's video
	// processor makes them.
	video.Sampled
	// Height and Width are those of the decoded frames in pixels, 1 to
	// 16777216.
	Height, Width int
	// Mask is the video's video_compression_mask, an output of a video.Runner.
	// VideoLLaMA 3 requires it unless use_token_compression is false, since its
	// text depends on pixels then. Other classes ignore it.
	Mask []bool
}

// VideoText holds the tokens of a video.
type VideoText struct {
	// Tokens is the number of tokens in Text that stand for patches.
	Tokens int
	// Text replaces the placeholder of the video in the prompt. The texts of a
	// call have at most 64 MiB.
	Text string
}

// videoRule writes the text of the video with that index in a call.
type videoRule func(t *text, videos []Video, index int) error

// videoClass describes the videos of a processor class.
type videoClass struct {
	videos []string // the video processors that it may have, without suffixes
	// options are the class's own videos_kwargs, a JSON object that replaces
	// the keys of the video processor's file; "" is none.
	options string
	// build reads the settings. It records problems in k.
	build func(k *keys, v *video.Processor) videoRule
}

// videoClasses holds the processor classes with videos by name without
// "Processor".
var videoClasses = registry.New[videoClass]("processor class with videos")

// defineVideos registers the videos of classes. Each family's file calls it in
// init.
func defineVideos(c videoClass, names ...string) {
	for _, name := range names {
		videoClasses.Add(name, c)
	}
}

// VideoClasses returns the names of the classes that Videos knows, sorted.
func VideoClasses() []string {
	l := slices.Clone(videoClasses.Names())
	for i := range l {
		l[i] += suffix
	}
	slices.Sort(l)
	return l
}

// videoProcessor ends the names of video processors.
const videoProcessor = "VideoProcessor"

// parseVideos reads the rule of the videos.
func parseVideos(f Files, class string) (videoRule, error) {
	c, known := videoClasses.Get(strings.TrimSuffix(class, suffix))
	if !known {
		return nil, fmt.Errorf("importer: hf: %w", &importer.Error{
			Kind: importer.ErrUnsupported, Path: "processor_class", Text: importer.Describe(class) + ": has no rules for the text of a video here",
		})
	}
	k, _, err := newKeys(f)
	if err != nil {
		return nil, err
	}
	if len(k.call.Keys()) > 0 {
		return nil, fmt.Errorf("importer: hf: %w", &importer.Error{Kind: importer.ErrUnsupported, Path: k.call.Keys()[0], Text: "options of the call have rules for images only"})
	}
	k.class = class
	data := f.Video
	if data == nil && k.file.Peek("video_processor") != nil {
		data = f.Processor
	}
	if data == nil {
		data = f.Preprocessor
	}
	if data == nil {
		k.fail("video_processor", "missing: want an object in processor_config.json, a video_preprocessor_config.json, or a preprocessor_config.json")
		return nil, k.err()
	}
	data, err = withOptions(data, c.options)
	if err != nil {
		return nil, err
	}
	p, err := video.Import(data)
	if err != nil {
		return nil, err
	}
	if k.video, err = importer.Parse(data); err != nil {
		return nil, err
	}
	if v := k.video.Object("video_processor"); v != nil {
		k.video = v
	}
	if name := p.Sampling().Class(); !slices.Contains(c.videos, strings.TrimSuffix(name, videoProcessor)) {
		return nil, fmt.Errorf("importer: hf: %w", &importer.Error{
			Kind: importer.ErrUnsupported, Path: "video_processor_type", Text: fmt.Sprintf("%q: %s has rules for %s%s only", name, class, strings.Join(c.videos, videoProcessor+", "), videoProcessor),
		})
	}
	r := c.build(k, p)
	return r, k.err()
}

// withOptions returns the video processor's file, with the keys of options in
// place of its own.
func withOptions(data []byte, options string) ([]byte, error) {
	if options == "" {
		return data, nil
	}
	bad := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("importer: hf: %w", &importer.Error{Kind: importer.ErrJSON, Path: "video_processor", Text: err.Error()})
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(importer.Text(data), &m); err != nil {
		return bad(err)
	}
	if v, ok := m["video_processor"]; ok {
		m = nil
		if err := json.Unmarshal(v, &m); err != nil {
			return bad(err)
		}
	}
	if m == nil { // null
		return data, nil
	}
	if err := json.Unmarshal([]byte(options), &m); err != nil {
		return bad(err)
	}
	data, err := json.Marshal(m)
	if err != nil {
		return bad(err)
	}
	return data, nil
}

// Videos returns the tokens of the videos of one call for one prompt, in order.
// It takes at most 256. A video that the reference refuses is an error, and so
// is one whose text depends on pixels. A file that Parse accepts may have no
// rules for videos: the error then wraps one of package importer. Files.Call
// has no options then.
func (p *Processor) Videos(videos ...Video) ([]VideoText, error) {
	if p.videoErr != nil {
		return nil, p.videoErr
	}
	if len(videos) > maxImages {
		return nil, fmt.Errorf("importer: hf: %d videos, want at most %d in a call", len(videos), maxImages)
	}
	for i, v := range videos {
		if err := v.check(); err != nil {
			return nil, fmt.Errorf("importer: hf: video %d has %w", i, err)
		}
	}
	texts, left := make([]VideoText, len(videos)), maxText
	for i := range videos {
		t := &text{left: left}
		err := p.videos(t, videos, i)
		if err == nil {
			err = t.err
		}
		if err != nil {
			return nil, fmt.Errorf("importer: hf: %s: video %d: %w", p.class, i, err)
		}
		left = t.left
		texts[i] = VideoText{t.tokens, t.String()}
	}
	return texts, nil
}

// check returns an error for values outside their ranges.
func (v Video) check() error {
	if min(v.Height, v.Width) < 1 || max(v.Height, v.Width) > importer.MaxSide || times(v.Height, v.Width) == maxCount {
		return fmt.Errorf("frames of %d x %d (height x width), want sides of 1 to %d and less than %d pixels", v.Height, v.Width, importer.MaxSide, maxCount)
	}
	if len(v.Indices) < 1 || len(v.Indices) > video.MaxFrames {
		return fmt.Errorf("%d chosen frames, want 1 to %d", len(v.Indices), video.MaxFrames)
	}
	for _, n := range v.Indices {
		if n < 0 || n >= video.MaxFrames {
			return fmt.Errorf("a frame with the number %d, want 0 to %d", n, video.MaxFrames-1)
		}
	}
	for name, f := range map[string]float64{"fps": v.FPS, "duration": v.Duration} {
		if f != 0 && !(f >= 1e-9 && f <= 1e9) {
			return fmt.Errorf("%s %v, want a number above 0 and at most 1e9, or 0 if unknown", name, f)
		}
	}
	return nil
}

// assumed returns the video with that fps if it is unknown.
func (v Video) assumed(fps float64) Video {
	if v.FPS == 0 {
		v.FPS = fps
	}
	return v
}

// seconds writes a time with one digit behind the point.
func seconds(s float64) string { return fmt.Sprintf("%.1f", s) }
