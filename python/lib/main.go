// Command lib is the shared library of the Python package infer-prep, built
// with -buildmode=c-shared. infer_prep/_native.py has the same declarations in
// Python; abiVersion changes with them.
//
// Handles are positive numbers. A function that returns a handle returns 0 for
// an error. A function with a status returns 0, or -1 for an error. *e then is
// a JSON object with the texts code and error, which ip_free frees. The number
// call is that of an exception of a Python function. All
// functions are safe for concurrent use. None may be called in a process that
// was forked after the library was loaded: Go's threads do not survive fork.
package main

/*
#include <stdint.h>
#include <stdlib.h>

typedef struct {
	void *data;
	int64_t bytes;
	int64_t shape[8];
	int32_t dtype; // as in package tensor
	int32_t rank;
} ip_tensor;

// An image: an encoded one of bytes bytes, or pixels if height is not 0.
// The library reads it during the call only, and does not copy it as a whole.
typedef struct {
	void *data; // of pixels the first sample of the first one
	int64_t bytes;
	int64_t height, width;
	int64_t channels; // 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA; uint8
	int64_t row, pixel, sample; // strides in bytes, which may be negative
} ip_image;

// A video of frames, which lie elsewhere.
typedef struct {
	double fps, duration; // frames a second, seconds; 0 is unknown
	int32_t frames;
} ip_video;

typedef struct {
	int64_t lease; // ip_release ends it
	int64_t epoch;
	int64_t step;
	char *key;     // ip_free frees it
	int32_t tensors;
	int32_t notes; // 1 if ip_pipeline_notes has messages
} ip_batch;

// A call of a function of Python; see binding.Call.
typedef struct {
	int64_t id;
	int64_t lease; // of its values; 0 if there are none, else ip_release ends it
	int64_t epoch;
	uint64_t ordinal;
	uint64_t seed;
	int64_t reader;
	char *key; // ip_free frees it
	int32_t function;
	int32_t kind;
	int32_t samples;
	int32_t tensors; // of the lease
	int32_t more;    // 1 if another thread should wait for calls
} ip_call;
*/
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unsafe"

	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/python/internal/binding"
	"github.com/infer-prep/infer-prep/tensor"
)

// abiVersion is the version of the declarations above.
const abiVersion = 7

// maxOutputs is the most outputs of a video processor.
const maxOutputs = 16

func main() {}

// handles are the objects that Python holds.
var handles = struct {
	sync.Mutex
	last int64
	m    map[int64]any
}{m: map[int64]any{}}

func put(x any) C.int64_t {
	handles.Lock()
	defer handles.Unlock()
	handles.last++
	handles.m[handles.last] = x
	return C.int64_t(handles.last)
}

func get[T any](h C.int64_t) (x T, err error) {
	handles.Lock()
	defer handles.Unlock()
	x, ok := handles.m[int64(h)].(T)
	if !ok {
		err = fmt.Errorf("infer_prep: handle %d: no such %T", h, x)
	}
	return x, err
}

func take(h C.int64_t) any {
	handles.Lock()
	defer handles.Unlock()
	x := handles.m[int64(h)]
	delete(handles.m, int64(h))
	return x
}

// fail sets *to to an error. It returns whether there is one.
func fail(to **C.char, err error) bool {
	if err == nil {
		return false
	}
	fields := map[string]any{"code": binding.Code(err), "error": binding.Text(err)}
	if r := (*binding.RaisedError)(nil); errors.As(err, &r) {
		fields["call"] = r.Call // of the exception that Python keeps
	}
	b, _ := json.Marshal(fields) // texts and numbers have a JSON form
	*to = C.CString(string(b))
	return true
}

// bytesOf returns n bytes at an address, which must not change during the call.
func bytesOf(p unsafe.Pointer, n C.int64_t) []byte {
	if p == nil || n <= 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(p), int(n))
}

// fromJSON parses the JSON text that Python passes.
func fromJSON(p *C.char, to any) error { return binding.Unmarshal([]byte(C.GoString(p)), to) }

func toJSON(x any) (*C.char, error) {
	b, err := json.Marshal(x)
	if err != nil {
		return nil, err
	}
	return C.CString(string(b)), nil
}

//export ip_abi
func ip_abi() C.int32_t { return abiVersion }

//export ip_free
func ip_free(p unsafe.Pointer) { C.free(p) }

// ip_graph_open opens the graph of a binding.Source in JSON, with n bytes of
// content. *info becomes a binding.Info in JSON.
//
//export ip_graph_open
func ip_graph_open(source *C.char, content unsafe.Pointer, n C.int64_t, info, e **C.char) (h C.int64_t) {
	err := func() (err error) {
		defer binding.Guard(&err)
		var s binding.Source
		if err := fromJSON(source, &s); err != nil {
			return err
		}
		g, err := binding.OpenGraph(s, bytesOf(content, n))
		if err != nil {
			return err
		}
		if *info, err = toJSON(g.Info()); err != nil {
			return err
		}
		h = put(g)
		return nil
	}()
	fail(e, err)
	return h
}

// ip_graph_json returns the graph in JSON, which ip_free frees.
//
//export ip_graph_json
func ip_graph_json(h C.int64_t, e **C.char) *C.char {
	g, err := get[*binding.Graph](h)
	if fail(e, err) {
		return nil
	}
	return C.CString(string(g.JSON()))
}

// imageOf returns an image whose memory must not change during the call.
func imageOf(i *C.ip_image) (binding.Image, error) {
	if i.height == 0 {
		return binding.Image{Encoded: bytesOf(i.data, i.bytes)}, nil
	}
	return binding.Pixels(i.data, int(i.height), int(i.width), int(i.channels), int(i.row), int(i.pixel), int(i.sample))
}

// imagesOf returns count images.
func imagesOf(images *C.ip_image, count C.int32_t) ([]binding.Image, error) {
	l := make([]binding.Image, max(count, 0))
	for i, image := range unsafe.Slice(images, len(l)) {
		var err error
		if l[i], err = imageOf(&image); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// ip_graph_run runs a graph on an image and lends the outputs. out has room for
// all of them.
//
//export ip_graph_run
func ip_graph_run(h C.int64_t, image *C.ip_image, out *C.ip_tensor, e **C.char) (lease C.int64_t) {
	return run(h, out, e, func(g *binding.Graph) (*binding.Tensors, error) {
		i, err := imageOf(image)
		if err != nil {
			return nil, err
		}
		return g.Run(i)
	})
}

// ip_graph_run_batch runs a graph on count images, on all processors, and lends
// the batch that the graph's batch rules make of the outputs.
//
//export ip_graph_run_batch
func ip_graph_run_batch(h C.int64_t, images *C.ip_image, count C.int32_t, out *C.ip_tensor, e **C.char) (lease C.int64_t) {
	return run(h, out, e, func(g *binding.Graph) (*binding.Tensors, error) {
		l, err := imagesOf(images, count)
		if err != nil {
			return nil, err
		}
		return g.RunBatch(l)
	})
}

// run lends the tensors that f returns for the object of handle h.
func run[T any](h C.int64_t, out *C.ip_tensor, e **C.char, f func(x T) (*binding.Tensors, error)) (lease C.int64_t) {
	err := func() (err error) {
		defer binding.Guard(&err)
		g, err := get[T](h)
		if err != nil {
			return err
		}
		t, err := f(g)
		if err != nil {
			return err
		}
		describe(t, unsafe.Slice(out, len(t.List())))
		lease = put(t)
		return nil
	}()
	fail(e, err)
	return lease
}

// ip_video_open opens n bytes of a video_preprocessor_config.json.
//
//export ip_video_open
func ip_video_open(config unsafe.Pointer, n C.int64_t, e **C.char) (h C.int64_t) {
	err := func() (err error) {
		defer binding.Guard(&err)
		v, err := binding.OpenVideo(bytesOf(config, n))
		if err == nil {
			h = put(v)
		}
		return err
	}()
	fail(e, err)
	return h
}

// ip_video_config returns the configuration of the video processor of a model's
// folder, which ip_free frees.
//
//export ip_video_config
func ip_video_config(folder *C.char, e **C.char) (config *C.char) {
	err := func() (err error) {
		defer binding.Guard(&err)
		b, err := binding.VideoConfig(C.GoString(folder))
		if err == nil {
			config = C.CString(string(b))
		}
		return err
	}()
	fail(e, err)
	return config
}

// ip_video_run runs a video processor on videos and lends their batch. frames
// has the frames of all videos, one video after the other. A rate or a duration
// of 0 is unknown. *names becomes the names of the outputs, a list in JSON, for
// which out must have room: maxOutputs.
//
//export ip_video_run
func ip_video_run(h C.int64_t, frames *C.ip_image, videos *C.ip_video, count C.int32_t, out *C.ip_tensor, names, e **C.char) (lease C.int64_t) {
	return run(h, out, e, func(v *binding.Video) (*binding.Tensors, error) {
		l := make([][]binding.Image, max(count, 0))
		m := make([]video.Metadata, len(l))
		for i, x := range unsafe.Slice(videos, len(l)) {
			var err error
			if l[i], err = imagesOf(frames, x.frames); err != nil {
				return nil, err
			}
			frames = (*C.ip_image)(unsafe.Add(unsafe.Pointer(frames), uintptr(len(l[i]))*unsafe.Sizeof(*frames)))
			m[i] = video.Metadata{FPS: float64(x.fps), Duration: float64(x.duration)}
		}
		t, s, err := v.Run(l, m)
		if err == nil && len(s) > maxOutputs {
			err = fmt.Errorf("infer_prep: video: %d outputs, want at most %d", len(s), maxOutputs)
		}
		if err == nil {
			*names, err = toJSON(s)
		}
		return t, err
	})
}

// ip_graph_run_into runs a graph on an image and writes the outputs to memory
// of the caller, which data and bytes of the count elements of out describe.
//
//export ip_graph_run_into
func ip_graph_run_into(h C.int64_t, image *C.ip_image, out *C.ip_tensor, count C.int32_t, e **C.char) C.int32_t {
	err := func() (err error) {
		defer binding.Guard(&err)
		g, err := get[*binding.Graph](h)
		if err != nil {
			return err
		}
		list := unsafe.Slice(out, int(count))
		dst := make([][]byte, len(list))
		for i := range dst {
			dst[i] = bytesOf(list[i].data, list[i].bytes)
		}
		i, err := imageOf(image)
		if err != nil {
			return err
		}
		descs, err := g.RunInto(i, dst)
		for i, d := range descs {
			list[i].bytes = C.int64_t(d.Size())
			setDesc(&list[i], d)
		}
		return err
	}()
	if fail(e, err) {
		return -1
	}
	return 0
}

// ip_graph_sizes describes the outputs for an image of a height and a width in
// pixels. It runs nothing. out has room for all outputs; a size that depends on
// the pixels is -1.
//
//export ip_graph_sizes
func ip_graph_sizes(h, height, width C.int64_t, out *C.ip_tensor, e **C.char) C.int32_t {
	err := func() (err error) {
		defer binding.Guard(&err)
		g, err := get[*binding.Graph](h)
		if err != nil {
			return err
		}
		columns, err := g.Sizes(int(height), int(width))
		list := unsafe.Slice(out, len(columns))
		for i, c := range columns {
			setDesc(&list[i], c.Desc)
		}
		return err
	}()
	if fail(e, err) {
		return -1
	}
	return 0
}

// describe writes the descriptions of lent tensors.
func describe(t *binding.Tensors, out []C.ip_tensor) {
	for i, x := range t.List() {
		out[i].data, out[i].bytes = t.Pointer(i), C.int64_t(len(x.Data))
		setDesc(&out[i], x.Desc)
		if x.DType == tensor.Bytes { // a string of any length is a list of bytes
			out[i].rank, out[i].shape[0] = 1, C.int64_t(len(x.Data))
		}
	}
}

func setDesc(to *C.ip_tensor, d tensor.Desc) {
	to.dtype, to.rank = C.int32_t(d.DType), C.int32_t(d.Shape.Rank())
	for j := range d.Shape.Rank() {
		to.shape[j] = C.int64_t(d.Shape.At(j))
	}
}

// ip_release ends the loan of tensors. Other handles are ignored.
//
//export ip_release
func ip_release(lease C.int64_t) {
	if t, ok := take(lease).(*binding.Tensors); ok {
		t.Release()
	}
}

// ip_node returns a node of a definition in JSON, which ip_free frees; params
// is a JSON object. Parameters that are left out have their defaults.
//
//export ip_node
func ip_node(name, params *C.char, e **C.char) (out *C.char) {
	err := func() (err error) {
		defer binding.Guard(&err)
		b, err := binding.Node(C.GoString(name), []byte(C.GoString(params)))
		if err == nil {
			out = C.CString(string(b))
		}
		return err
	}()
	fail(e, err)
	return out
}

// ip_pipeline_open opens a definition in JSON or msgp; options is a
// binding.Options in JSON. *info becomes a binding.PipelineInfo in JSON.
//
//export ip_pipeline_open
func ip_pipeline_open(definition unsafe.Pointer, n C.int64_t, options *C.char, info, e **C.char) (h C.int64_t) {
	err := func() (err error) {
		defer binding.Guard(&err)
		var o binding.Options
		if err := fromJSON(options, &o); err != nil {
			return err
		}
		p, err := binding.OpenPipeline(bytesOf(definition, n), o)
		if err != nil {
			return err
		}
		if *info, err = toJSON(p.Info()); err != nil {
			return errors.Join(err, p.Close())
		}
		h = put(p)
		return nil
	}()
	fail(e, err)
	return h
}

// ip_pipeline_next lends the next batch: its tensors are in out, which has room
// for one of each column. It returns 1 at the end of the epoch, and 2 if there
// is none after wait milliseconds. 3 and 4 ask whether any rank is done, while
// this one has a batch or is done; ip_pipeline_answer answers.
//
//export ip_pipeline_next
func ip_pipeline_next(h, wait C.int64_t, batch *C.ip_batch, out *C.ip_tensor, e **C.char) (status C.int32_t) {
	err := func() (err error) {
		defer binding.Guard(&err)
		p, err := get[*binding.Pipeline](h)
		if err != nil {
			return err
		}
		t, err := p.Next(time.Duration(wait) * time.Millisecond)
		switch err {
		case nil:
		case io.EOF:
			status = 1
			return nil
		case binding.ErrWait:
			status = 2
			return nil
		case binding.ErrAsk:
			status = 3
			return nil
		case binding.ErrAskDone:
			status = 4
			return nil
		default:
			return err
		}
		list := t.List()
		describe(t, unsafe.Slice(out, len(list)))
		batch.epoch, batch.step, batch.tensors, batch.notes = C.int64_t(t.Epoch), C.int64_t(t.Step), C.int32_t(len(list)), 0
		batch.key = C.CString(t.Key)
		if t.Notes {
			batch.notes = 1
		}
		batch.lease = put(t)
		return nil
	}()
	if fail(e, err) {
		return -1
	}
	return status
}

// call calls f for a pipeline and returns a status.
func call(h C.int64_t, e **C.char, f func(p *binding.Pipeline) error) C.int32_t {
	err := func() (err error) {
		defer binding.Guard(&err)
		p, err := get[*binding.Pipeline](h)
		if err != nil {
			return err
		}
		return f(p)
	}()
	if fail(e, err) {
		return -1
	}
	return 0
}

// ip_pipeline_answer answers a question of ip_pipeline_next: 1 if any rank is
// done, 0 if none is, and -1 if that is unknown, which ends the epoch's run.
//
//export ip_pipeline_answer
func ip_pipeline_answer(h C.int64_t, any C.int32_t, e **C.char) C.int32_t {
	return call(h, e, func(p *binding.Pipeline) error { return p.Answer(any == 1, any < 0) })
}

//export ip_pipeline_next_epoch
func ip_pipeline_next_epoch(h C.int64_t, e **C.char) C.int32_t {
	return call(h, e, (*binding.Pipeline).NextEpoch)
}

// ip_pipeline_state returns *n bytes at *state, which ip_free frees: the place
// after the last batch, or before it if before is 1.
//
//export ip_pipeline_state
func ip_pipeline_state(h C.int64_t, before C.int32_t, state *unsafe.Pointer, n *C.int64_t, e **C.char) C.int32_t {
	return call(h, e, func(p *binding.Pipeline) error {
		b, err := p.State(before == 1)
		if err == nil {
			*state, *n = C.CBytes(b), C.int64_t(len(b))
		}
		return err
	})
}

//export ip_pipeline_restore
func ip_pipeline_restore(h C.int64_t, state unsafe.Pointer, n C.int64_t, e **C.char) C.int32_t {
	return call(h, e, func(p *binding.Pipeline) error { return p.Restore(bytesOf(state, n)) })
}

// ip_pipeline_weights sets *weights to the weights of a feedback policy, a list
// in JSON, if set is NULL. Else it makes the list set those of the next epoch.
//
//export ip_pipeline_weights
func ip_pipeline_weights(h C.int64_t, name, set *C.char, weights, e **C.char) C.int32_t {
	return call(h, e, func(p *binding.Pipeline) error {
		if set != nil {
			var w []float64
			if err := fromJSON(set, &w); err != nil {
				return err
			}
			return p.SetWeights(C.GoString(name), w)
		}
		w, err := p.Weights(C.GoString(name))
		if err == nil {
			*weights, err = toJSON(w)
		}
		return err
	})
}

// ip_pipeline_give gives the answer of a number to the waited callback of a
// name.
//
//export ip_pipeline_give
func ip_pipeline_give(h C.int64_t, name *C.char, number C.int64_t, e **C.char) C.int32_t {
	return call(h, e, func(p *binding.Pipeline) error { return p.Give(C.GoString(name), int64(number)) })
}

// ip_call_next waits for a call of a function of Python, which ip_call_return
// or ip_call_raise ends. first is 1 for the first call of a thread. It returns
// 1 once the pipeline is closed.
//
//export ip_call_next
func ip_call_next(h C.int64_t, first C.int32_t, to *C.ip_call) C.int32_t {
	p, err := get[*binding.Pipeline](h)
	if err != nil {
		return 1
	}
	c := p.NextCall(first == 1)
	if c == nil {
		return 1
	}
	*to = C.ip_call{
		id: C.int64_t(c.ID), epoch: C.int64_t(c.Epoch), ordinal: C.uint64_t(c.Ordinal), seed: C.uint64_t(c.Seed), reader: C.int64_t(c.Reader),
		function: C.int32_t(c.Function), kind: C.int32_t(c.Kind), samples: C.int32_t(c.Samples), key: C.CString(c.Key),
	}
	if c.Tensors != nil {
		to.tensors, to.lease = C.int32_t(len(c.Tensors.List())), put(c.Tensors)
	}
	if c.More {
		to.more = 1
	}
	return 0
}

// ip_call_values describes the values of a call's lease in out, which has room
// for all.
//
//export ip_call_values
func ip_call_values(lease C.int64_t, out *C.ip_tensor) {
	if t, err := get[*binding.Tensors](lease); err == nil {
		describe(t, unsafe.Slice(out, len(t.List())))
	}
}

// ip_call_return ends a call with ok, what a predicate returned or whether a
// generator has a sample, and with count dense values, which are copied.
//
//export ip_call_return
func ip_call_return(h, id C.int64_t, ok C.int32_t, values *C.ip_tensor, count C.int32_t) {
	p, err := get[*binding.Pipeline](h)
	if err != nil {
		return // it is closed
	}
	list := make([]tensor.Tensor, max(count, 0))
	for i, v := range unsafe.Slice(values, len(list)) {
		shape := make([]int, min(max(v.rank, 0), tensor.MaxRank))
		for j := range shape {
			shape[j] = int(v.shape[j])
		}
		list[i], err = binding.Dense(int(v.dtype), shape, bytesOf(v.data, v.bytes))
		if err != nil {
			p.Raise(int64(id), err.Error())
			return
		}
	}
	p.Return(int64(id), ok == 1, list)
}

// ip_call_raise ends a call with an exception, whose text says which.
//
//export ip_call_raise
func ip_call_raise(h, id C.int64_t, text *C.char) {
	if p, err := get[*binding.Pipeline](h); err == nil {
		p.Raise(int64(id), C.GoString(text))
	}
}

// ip_pipeline_stats sets *stats to a binding.Stats in JSON, which ip_free
// frees.
//
//export ip_pipeline_stats
func ip_pipeline_stats(h C.int64_t, stats, e **C.char) C.int32_t {
	return call(h, e, func(p *binding.Pipeline) error {
		s, err := p.Stats()
		if err == nil {
			*stats, err = toJSON(s)
		}
		return err
	})
}

// ip_pipeline_notes sets *notes to a list of texts in JSON, which ip_free
// frees.
//
//export ip_pipeline_notes
func ip_pipeline_notes(h C.int64_t, notes, e **C.char) C.int32_t {
	return call(h, e, func(p *binding.Pipeline) (err error) {
		*notes, err = toJSON(append([]string{}, p.Notes()...))
		return err
	})
}

// ip_graph_write begins a run of a graph over the images of a binding.Write in
// JSON, and returns its handle.
//
//export ip_graph_write
func ip_graph_write(h C.int64_t, options *C.char, e **C.char) (run C.int64_t) {
	err := func() (err error) {
		defer binding.Guard(&err)
		g, err := get[*binding.Graph](h)
		if err != nil {
			return err
		}
		var o binding.Write
		if err := fromJSON(options, &o); err != nil {
			return err
		}
		w, err := g.Write(o)
		if err != nil {
			return err
		}
		run = put(w)
		return nil
	}()
	fail(e, err)
	return run
}

// ip_write_wait waits for the end of a run and sets *sum to a binding.Written
// in JSON. It returns 2 if the run goes on after wait milliseconds.
//
//export ip_write_wait
func ip_write_wait(h, wait C.int64_t, sum, e **C.char) (status C.int32_t) {
	err := func() (err error) {
		defer binding.Guard(&err)
		w, err := get[*binding.Writing](h)
		if err != nil {
			return err
		}
		s, err := w.Wait(time.Duration(wait) * time.Millisecond)
		if err == binding.ErrWait {
			status = 2
			return nil
		}
		if err != nil {
			return err
		}
		*sum, err = toJSON(s)
		return err
	}()
	if fail(e, err) {
		return -1
	}
	return status
}

// ip_close closes a graph, a pipeline or a run. Its tensors that are lent stay
// valid. Other handles are ignored.
//
//export ip_close
func ip_close(h C.int64_t, e **C.char) C.int32_t {
	err := func() (err error) {
		defer binding.Guard(&err)
		if c, ok := take(h).(io.Closer); ok {
			return c.Close()
		}
		return nil
	}()
	if fail(e, err) {
		return -1
	}
	return 0
}
