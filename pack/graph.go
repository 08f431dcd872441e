package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// tensorMaker makes the fields of a sample with a graph. It is safe for
// concurrent use.
type tensorMaker struct {
	pool *datagraph.Pool
	// decodes reports whether a file that begins so may be the graph's input.
	decodes func(head []byte) bool
}

// newTensorMaker compiles a graph. It refuses one that has random ops, or
// outputs that no shard holds.
func newTensorMaker(g *datagraph.Graph, limits codec.Limits) (*tensorMaker, error) {
	if g.Random() {
		return nil, errors.New("the graph has random ops: want a graph that gives a file the same tensors every time")
	}
	p, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: limits})
	if err != nil {
		return nil, err
	}
	if err := g.WantImage(); err != nil {
		return nil, err
	}
	for i, c := range p.Outputs()[:len(g.Outputs)] {
		if c.Desc.DType == tensor.BFloat16 {
			return nil, fmt.Errorf("the graph's output %q is %v: a tar shard holds arrays of NumPy, which has no such type", g.Outputs[i], c.Desc.DType)
		}
	}
	m := &tensorMaker{pool: p.NewPool(datagraph.PoolOptions{})}
	m.decodes = func(head []byte) bool { return codec.Sniff(head) != "" }
	if decodesSound(g) {
		m.decodes = func(head []byte) bool { return sound.Sniff(head) != "" }
	}
	return m, nil
}

// soundExtensions are extensions of sounds. Files of formats that are not
// supported are bad samples, not left out.
var soundExtensions = []string{".aac", ".aif", ".aiff", ".flac", ".m4a", ".mp3", ".ogg", ".opus", ".sph", ".wav", ".wma"}

// decodesSound reports whether a graph of one file decodes it as a sound.
func decodesSound(g *datagraph.Graph) bool {
	for _, s := range g.Steps {
		if len(g.Inputs) == 1 && slices.Contains(s.In, g.Inputs[0].Name) {
			_, ok := s.Op.(*transforms.DecodeSound)
			return ok
		}
	}
	return false
}

// sample returns the sample of a key, escaped where shards need it, with the
// graph's outputs for a file. A panic is an error.
func (m *tensorMaker) sample(ctx context.Context, key string, file []byte) (s *webdataset.Sample, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", codec.ErrInternal, v)
			err = &badError{badKind(err, BadGraph), err}
		}
	}()
	err = m.pool.Do(ctx, func(r *datagraph.Runner) error {
		out, err := r.Run(tensor.FromBytes(file))
		if err != nil && ctx.Err() == nil {
			return &badError{badKind(err, BadGraph), err}
		} else if err != nil {
			return err
		}
		record := records.Record{Key: key}
		for i, c := range m.pool.Plan().Graph().Outputs {
			v := *out[i]
			if v.DType == tensor.Bytes { // the sample keeps the memory
				v.Data = bytes.Clone(v.Data)
			}
			record.Fields = append(record.Fields, records.Field{Name: c, Value: v})
		}
		if s, err = webdataset.NewSample(&record); err != nil {
			return &badError{BadSample, err}
		}
		return nil
	})
	return s, err
}

// length returns the size of the first output along the axis whose size depends
// on the file. It reads the file's header.
func (m *tensorMaker) length(ctx context.Context, file []byte, axis int) (n float64, err error) {
	err = m.pool.Do(ctx, func(r *datagraph.Runner) error {
		descs, err := r.Infer(tensor.FromBytes(file))
		if err != nil {
			return err
		}
		g := m.pool.Plan().Graph()
		d := g.Last(descs, g.Outputs[0])
		if d.Shape.Rank() <= axis || d.Shape.At(axis) == tensor.Unknown {
			return fmt.Errorf("the header does not tell the length of the output %q: want the lengths of all samples from a file", g.Outputs[0])
		}
		n = float64(d.Shape.At(axis))
		return nil
	})
	return n, err
}

// Transform returns samples with the tensors that a graph makes of the samples'
// files: the fields OUTPUT.npy, as "infer-prep run --format webdataset" writes
// them, in place of the file. The other fields remain, such as labels.
//
// The file is the field whose first bytes are those of a sound, if the graph
// decodes sounds, or else of an image. A sample that has none or several is an
// error of the sample, and so is one that the graph does not apply to.
//
// The length of a sample, for Shards.Groups, is the size of the graph's first
// output along its first axis of unknown size: the frames of features. If s has
// lengths from KaldiOptions.Lengths, it is that. A graph whose first output has
// one size for all samples gives no lengths.
//
// limits bound each file and what the graph makes of it. The graph must have
// one input, a file, and no random ops. Transform takes over s: close the
// result only.
func (s *Samples) Transform(g *datagraph.Graph, limits codec.Limits) (*Samples, error) {
	m, err := newTensorMaker(g, limits)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	text, err := g.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "graph %q %+v\n", text, limits)
	h.Write(s.digest)

	t := *s
	t.digest = h.Sum(nil)
	t.read = func(ctx context.Context, i int) (*webdataset.Sample, error) {
		x, at, err := s.file(ctx, i, m)
		if err != nil {
			return nil, err
		}
		made, err := m.sample(ctx, s.keys[i], x.Fields[at].Data)
		if err != nil {
			return nil, s.fieldError(i, x.Fields[at].Ext, err)
		}
		x.Fields = slices.Delete(x.Fields, at, at+1)
		for _, f := range made.Fields {
			if _, ok := x.Get(f.Ext); ok {
				return nil, s.fieldError(i, f.Ext, errors.New("the sample has the field, and the graph an output of that name"))
			}
		}
		x.Fields = append(x.Fields, made.Fields...)
		return x, nil
	}
	if s.given {
		return &t, nil
	}
	t.length = nil
	if d := m.pool.Plan().Outputs()[0].Desc; d.DType != tensor.Bytes {
		for axis := range d.Shape.Rank() {
			if d.Shape.At(axis) != tensor.Unknown {
				continue
			}
			t.length = func(ctx context.Context, i int) (float64, error) {
				x, at, err := s.file(ctx, i, m)
				if err != nil {
					return 0, err
				}
				n, err := m.length(ctx, x.Fields[at].Data, axis)
				if err != nil {
					return 0, s.fieldError(i, x.Fields[at].Ext, err)
				}
				return n, nil
			}
			break
		}
	}
	return &t, nil
}

// file reads sample i and finds the field that m's graph decodes.
func (s *Samples) file(ctx context.Context, i int, m *tensorMaker) (x *webdataset.Sample, at int, err error) {
	if x, err = s.read(ctx, i); err != nil {
		return nil, 0, err
	}
	at = -1
	var have []string
	for k, f := range x.Fields {
		have = append(have, f.Ext)
		if !m.decodes(f.Data) {
			continue
		}
		if at >= 0 {
			return nil, 0, s.fieldError(i, f.Ext, fmt.Errorf("the graph decodes it, and field %s too: want one such field", x.Fields[at].Ext))
		}
		at = k
	}
	if at < 0 {
		return nil, 0, fmt.Errorf("pack: %w: %q: the graph decodes none of its fields (%s)", ErrSample, s.keys[i], strings.Join(have, ", "))
	}
	return x, at, nil
}

func (s *Samples) fieldError(i int, ext string, err error) error {
	return fmt.Errorf("pack: %w: %q, field %s: %w", ErrSample, s.keys[i], ext, err)
}
