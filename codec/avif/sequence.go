package avif

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/clib"
)

// sequence is the open file of an animation. It is closed after the last frame,
// after an error, and when the decoder is no longer used.
type sequence struct {
	data    []byte
	o       *codec.Options
	c       codec.Config
	next    int
	file    *file
	cleanup runtime.Cleanup
}

// maxReferences is the number of frames that an AV1 decoder keeps, beside the
// one at work.
const maxReferences = 8

// OpenFrames reads the header of a file with several frames, and the durations
// of all frames, at most most of them: numerators and denominators in seconds.
// Package codec/animation calls it, and then DecodeFrame. The decoder keeps
// data and o.
func (d *decoder) OpenFrames(data []byte, o *codec.Options, most int) ([][2]int, error) {
	d.sequence.close()
	c, err := d.Open(data, o)
	if err != nil {
		return nil, err
	}
	l, err := load()
	if err != nil {
		return nil, unsupported("%v", err)
	}
	if c.Frames > most {
		return nil, codec.Errorf(name, -1, codec.ErrLimit, "%d frames, want at most %d", c.Frames, most)
	}
	f, err := l.open(data, 0)
	if err != nil {
		return nil, wrap(err)
	}
	defer f.close()
	delays := make([][2]int, c.Frames)
	var t timing
	for i := range delays {
		if err := l.result(clib.Call(l.nthTiming, f.decoder, uintptr(i), uintptr(unsafe.Pointer(&t)))); err != nil {
			return nil, wrap(err)
		}
		if t.timescale < 1 || t.timescale > math.MaxInt32 || t.durationInTimescales > math.MaxInt32 {
			return nil, unsupported("frame %d has a duration of %d/%d seconds, want numbers of at most %d", i, t.durationInTimescales, t.timescale, math.MaxInt32)
		}
		delays[i] = [2]int{int(t.durationInTimescales), int(t.timescale)}
	}
	d.sequence = sequence{data: data, o: o, c: c}
	return delays, nil
}

// DecodeFrame decodes frame i of the file that OpenFrames opened. Frame 0
// starts anew; others follow the one before.
func (d *decoder) DecodeFrame(dst *codec.Raster, i int) error {
	s := &d.sequence
	if i == 0 {
		if err := d.start(); err != nil {
			return err
		}
	}
	if s.file == nil || i != s.next {
		return codec.Errorf(name, -1, codec.ErrInternal, "frame %d: want %d", i, s.next)
	}
	if err := d.frame(s.file, &s.c, dst); err != nil {
		s.close()
		return err
	}
	if s.next++; s.next == s.c.Frames {
		s.close()
	}
	return nil
}

// start opens the file for its first frame.
func (d *decoder) start() error {
	s := &d.sequence
	s.close()
	l, err := load()
	if err != nil {
		return unsupported("%v", err)
	}
	pixels, err := checkMemory(&s.c, s.o.Limits, maxReferences)
	if err != nil {
		return err
	}
	f, err := l.open(s.data, pixels)
	if err != nil {
		return wrap(err)
	}
	s.file, s.next = f, 0
	s.cleanup = runtime.AddCleanup(d, (*file).close, f)
	return nil
}

// close closes the file, if it is open.
func (s *sequence) close() {
	if s.file != nil {
		s.cleanup.Stop()
		s.file.close()
		s.file = nil
	}
}

// timing is avifImageTiming.
type timing struct {
	timescale            uint64
	pts                  float64
	ptsInTimescales      uint64
	duration             float64
	durationInTimescales uint64
}
