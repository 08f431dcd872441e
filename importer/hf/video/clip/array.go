package clip

import (
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/tensor"
)

// ReadArray reads a .npy file with an array of uint8 of the axes T, H, W, 3 or
// T, 3, H, W. As in transformers' infer_channel_dimension_format, the second
// axis holds the channels if it has 3 elements, else the last one. Arrays of
// one channel are refused, because classes treat them differently. Errors wrap
// ErrArray, or those of tensor.ReadNPY.
func ReadArray(r io.Reader, limits codec.Limits) (*Clip, error) {
	t, err := tensor.ReadNPY(r, room(limits))
	if err != nil {
		return nil, err
	}
	s := t.Shape.Slice()
	if t.DType != tensor.Uint8 || len(s) != 4 || s[0] < 1 || s[0] > video.MaxFrames {
		return nil, fmt.Errorf("%w: %v, want uint8 with the axes T, H, W, 3 or T, 3, H, W, and 1 to %d frames", ErrArray, t.Desc, video.MaxFrames)
	}
	height, width, first := s[1], s[2], false
	switch {
	case s[1] == 1 || s[1] != 3 && s[3] == 1:
		return nil, fmt.Errorf("%w: %v has one channel, want 3", ErrArray, t.Desc)
	case s[1] == 3:
		height, width, first = s[2], s[3], true
	case s[3] != 3:
		return nil, fmt.Errorf("%w: %v: neither the second nor the last axis has 3 channels", ErrArray, t.Desc)
	}
	if err := limits.CheckSize("npy", width, height, 3); err != nil {
		return nil, err
	}
	head, size := header(width, height), 3*width*height
	return &Clip{Metadata: video.Metadata{Frames: s[0]}, ChannelsFirst: first, Frame: func(i int) ([]byte, error) {
		frame := t.Data[i*size:][:size]
		b := append(head, frame...) // in head's memory
		if first {
			pix, n := b[len(head):], width*height
			for k := range n {
				pix[3*k], pix[3*k+1], pix[3*k+2] = frame[k], frame[n+k], frame[2*n+k]
			}
		}
		return b, nil
	}}, nil
}
