package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/importer/hf/video/clip"
	"github.com/infer-prep/infer-prep/tensor"
)

// videoColumns describes the outputs of a video processor. Their types depend
// on the file; JSON can hold all of them.
func videoColumns(p *video.Processor) []datagraph.Column {
	var l []datagraph.Column
	for _, o := range p.Outputs() {
		l = append(l, datagraph.Column{Name: o.Name})
	}
	return l
}

// videoFormOf reads the headers of a request with a video, and what the query
// says about it.
func videoFormOf(r *http.Request) (form, error) {
	f, err := formOf(r)
	if err != nil {
		return f, err
	}
	f.video = &video.Metadata{}
	for name, to := range map[string]*float64{"fps": &f.video.FPS, "duration": &f.video.Duration} {
		text := r.URL.Query().Get(name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0 && v <= 1e9) || math.IsInf(v, 0) {
			return f, fail(http.StatusBadRequest, "%s %.100q: want a number above 0 and at most 1e9", name, text)
		}
		*to = v
	}
	return f, nil
}

// video computes the outputs that r wants of the video whose frames are its
// images. A single image may be an animation or a .npy array, which has all
// frames. The video takes the place of one image of Options.Jobs.
func (s *Server) video(ctx context.Context, r *request, l *lease) (batches []*tensor.Tensor, err error) {
	doErr := s.pool.Do(ctx, func(*datagraph.Runner) error {
		batches, err = s.oneVideo(r, l)
		return nil
	})
	if doErr != nil {
		return nil, doErr
	}
	return batches, err
}

func (s *Server) oneVideo(r *request, l *lease) ([]*tensor.Tensor, error) {
	limits := s.o.Plan.Limits()
	for _, b := range r.images {
		s.metrics.bytes.Add(int64(len(b)))
	}
	frame := func(i int) ([]byte, error) { return r.images[i], nil }
	r.video.Frames = len(r.images)
	if len(r.images) == 1 {
		c, err := clip.ReadFile(bytes.NewReader(r.images[0]), limits)
		if err != nil {
			return nil, err
		}
		*r.video, frame = c.Metadata.Or(*r.video), c.Frame
	}
	out, err := s.o.Video.NewRunner(limits).Run(*r.video, frame)
	if err != nil {
		return nil, err
	}
	for _, t := range out {
		if err := l.grow(t.Size()); err != nil {
			return nil, err
		}
	}
	_, made, err := s.o.Video.Batch([][]*tensor.Tensor{out}, limits)
	if err != nil {
		return nil, err
	}
	s.metrics.images.Add(1)
	var batches []*tensor.Tensor
	for _, o := range r.outputs {
		batches = append(batches, made[o.column])
	}
	return batches, nil
}

// videoJSON describes the video of a request. It is in a response if the URL
// has details=true.
type videoJSON struct {
	Frames   int     `json:"total_num_frames"`
	FPS      float64 `json:"fps,omitempty"`
	Duration float64 `json:"duration,omitempty"`
	Indices  []int   `json:"frames_indices"`
	// Timestamps are those of the chosen frames in seconds, if FPS is known.
	Timestamps []float64 `json:"timestamps,omitempty"`
}

// videoDetails describes the video of r, which has run.
func (s *Server) videoDetails(r *request, l *lease) (json.RawMessage, error) {
	m, err := s.o.Video.Sampling().Sample(*r.video)
	if err != nil {
		return nil, err
	}
	if err := l.grow(int64(len(m.Indices)) * 2 * maxText); err != nil {
		return nil, err
	}
	v := videoJSON{Frames: m.Frames, FPS: m.FPS, Duration: m.Duration, Indices: slices.Clone(m.Indices)}
	if m.FPS > 0 {
		if v.Timestamps, err = m.Timestamps(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(v)
}
