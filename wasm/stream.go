//go:build wasip1 && full

package main

import (
	"runtime"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/tensor"
)

// openStream is a stream of samples that the host has opened.
type openStream struct {
	*datagraph.Stream
	plan *datagraph.Plan
}

// streams are the open streams, by handle.
var streams = map[uint32]*openStream{}

func init() {
	kinds = append(kinds, kindOf{datagraph.ErrStream, kindUnsupported})
}

// stream_open opens a stream of samples for a graph, which may be closed before
// it. rate is in Hz. opened then returns the stream's handle. The table
// describes the outputs as stream_push does.
//
//go:wasmexport stream_open
func streamOpen(handle, rate, channels uint32) uint32 {
	return guard(func() error {
		g, err := lookup(handle)
		if err != nil {
			return err
		}
		s, err := g.plan.NewStream(int(rate), int(channels))
		if err != nil {
			return err
		}
		if last++; last == 0 {
			last++
		}
		streams[last] = &openStream{s, g.plan}
		streams[last].describe(make([]*tensor.Tensor, len(g.plan.Outputs())))
		return nil
	})
}

//go:wasmexport stream_close
func streamClose(handle uint32) { delete(streams, handle) }

// stream_push passes the next samples to a stream: n bytes at an address,
// interleaved, of a sound.Encoding. It makes a table of the next parts of the
// outputs. The step of an output is 1 plus the axis along which its parts
// follow each other, and 0 if it is computed at the end; it then has no bytes.
//
//go:wasmexport stream_push
func streamPush(handle, encoding, at, n uint32) uint32 {
	return guard(func() error {
		s, ok := streams[handle]
		if !ok {
			return errfmt.Errorf("wasm: stream %d is not open", handle)
		}
		b, err := memory(at, n)
		if err != nil {
			return err
		}
		if int(encoding) >= len(sound.EncodingNames()) {
			return errfmt.Errorf("wasm: stream: encoding %d is unknown", encoding)
		}
		return s.table(s.PushPCM(sound.Encoding(encoding), b))
	})
}

// stream_end ends a stream and closes it. It makes a table of the last parts of
// the outputs, and of the outputs that are computed at the end.
//
//go:wasmexport stream_end
func streamEnd(handle uint32) uint32 {
	return guard(func() error {
		s, ok := streams[handle]
		if !ok {
			return errfmt.Errorf("wasm: stream %d is not open", handle)
		}
		delete(streams, handle)
		return s.table(s.Finish())
	})
}

func (s *openStream) table(out []*tensor.Tensor, err error) error {
	if err != nil {
		return err
	}
	if runs++; runs%collectEvery == 0 {
		runtime.GC()
	}
	s.describe(out)
	return nil
}

func (s *openStream) describe(out []*tensor.Tensor) {
	startTable()
	for i, c := range s.plan.Outputs() {
		if out[i] == nil {
			addTensor(c.Name, s.Axis(i)+1, c.Desc, nil)
			continue
		}
		kept = append(kept, out[i])
		addTensor(c.Name, s.Axis(i)+1, out[i].Desc, dense(out[i]))
	}
	finishTable()
}
