package clip

import (
	"io"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/animation"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// ReadAnimation reads an animated GIF, PNG, WebP or AVIF file, whose frames are
// those of Pillow's ImageSequence.Iterator(img), converted to RGB. A still
// image is a video of one frame.
//
// The duration is the sum of the frames' delays if each has one above zero. The
// frames a second are known if all delays are equal, too. Errors are those of
// package animation.
func ReadAnimation(r io.Reader, limits codec.Limits) (*Clip, error) {
	data, err := readAll(r, limits)
	if err != nil {
		return nil, err
	}
	a, err := animation.Open(data, limits)
	if err != nil {
		return nil, err
	}
	head := header(a.Width, a.Height)
	return &Clip{Metadata: metadata(a.Delays), Frame: func(i int) ([]byte, error) {
		rgb, err := a.Frame(i)
		return append(head, rgb...), err // in head's memory
	}}, nil
}

// metadata returns what delays say.
func metadata(delays []animation.Delay) video.Metadata {
	m := video.Metadata{Frames: len(delays)}
	first := delays[0]
	equal, seconds := true, 0.0
	for _, d := range delays {
		if d.Num == 0 || d.Den == 0 {
			return m
		}
		equal = equal && d.Num*first.Den == first.Num*d.Den
		seconds += float64(d.Num) / float64(d.Den)
	}
	if equal {
		m.FPS = float64(first.Den) / float64(first.Num)
		seconds = float64(len(delays)*first.Num) / float64(first.Den)
	}
	m.Duration = seconds
	return m
}
