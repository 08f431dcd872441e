package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"syscall"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
)

// The frames of docs/format/feed.md.
const (
	feedMagic   = "IPfd"
	feedVersion = 1
	FeedAlign   = 64 // of the payload and of each tensor in it, in bytes
	FeedHead    = 32 // bytes before the header
)

type FeedKind uint16

const (
	FeedStart FeedKind = iota + 1
	FeedBatch
	FeedEpoch
	FeedEnd
	FeedError
)

// feedTensor describes a tensor of a batch, or a column in the start frame.
type feedTensor struct {
	Name   string `json:"name"`
	DType  string `json:"dtype"`
	Layout string `json:"layout,omitempty"`
	Shape  []int  `json:"shape"`
	Offset *int64 `json:"offset,omitempty"` // in the payload
	Bytes  *int64 `json:"bytes,omitempty"`
}

func feedTensorOf(name string, d tensor.Desc) feedTensor {
	t := feedTensor{Name: name, DType: d.DType.String(), Shape: []int{}}
	if d.Layout != tensor.NoLayout {
		t.Layout = d.Layout.String()
	}
	for i := range d.Shape.Rank() {
		t.Shape = append(t.Shape, d.Shape.At(i))
	}
	return t
}

// FeedHeader is the header of every frame. Each kind has some of the fields.
type FeedHeader struct {
	Format  int          `json:"infer_prep_feed,omitempty"` // start: the version
	Columns []feedTensor `json:"columns,omitempty"`         // start
	Len     *int64       `json:"len,omitempty"`             // start: batches of an epoch, if known
	Epochs  *int         `json:"epochs,omitempty"`          // start: 0 means no end
	Epoch   *uint64      `json:"epoch,omitempty"`           // batch, epoch, error
	Step    *int64       `json:"step,omitempty"`            // batch: from 1; epoch: the last; error: the last
	Key     *string      `json:"key,omitempty"`             // batch: of the first sample
	Tensors []feedTensor `json:"tensors,omitempty"`         // batch
	Skipped *int64       `json:"skipped,omitempty"`         // epoch, end: bad samples so far
	Error   string       `json:"error,omitempty"`           // error
	Stopped bool         `json:"interrupted,omitempty"`     // error: nothing is wrong, the producer was asked to end
	Resume  string       `json:"resume"`                    // the token of the place after this frame
}

// feedStream writes a run.
type feedStream struct {
	w        io.Writer
	run      *pipeline.Pipeline
	columns  []dataset.Column
	epochs   int
	epochLen int64
	frames   uint64
}

// feed writes the frames of all epochs.
func (s *feedStream) feed(ctx context.Context) error {
	start := FeedHeader{Format: feedVersion, Epochs: &s.epochs}
	for _, c := range s.columns {
		start.Columns = append(start.Columns, feedTensorOf(c.Name, c.Desc))
	}
	if s.epochLen >= 0 && s.epochLen != dataset.Endless {
		start.Len = &s.epochLen
	}
	if err := s.frame(FeedStart, start, nil); err != nil {
		return s.left(err)
	}
	for s.epochs == 0 || s.run.Epoch() < uint64(s.epochs) {
		if err := s.epoch(ctx); err != nil {
			return err
		}
	}
	skipped := s.run.Skipped()
	return s.left(s.frame(FeedEnd, FeedHeader{Skipped: &skipped}, nil))
}

// epoch writes the rest of an epoch and begins the next one.
func (s *feedStream) epoch(ctx context.Context) error {
	for {
		b, err := s.run.Next(ctx)
		if err == nil {
			if err := s.batch(b); err != nil {
				return s.left(err)
			}
			continue
		}
		epoch, step := s.run.Epoch(), s.run.Step()
		if err == io.EOF {
			skipped := s.run.Skipped()
			err := s.frame(FeedEpoch, FeedHeader{Epoch: &epoch, Step: &step, Skipped: &skipped}, nil)
			if err == nil {
				err = s.run.NextEpoch()
			}
			return s.left(err)
		}
		stop := command.Interrupted(ctx, "the feed ended before its last epoch")
		text := trainErr(err).Error()
		if stop != nil {
			text = "interrupted"
		}
		wrote := s.frame(FeedError, FeedHeader{Epoch: &epoch, Step: &step, Error: text, Stopped: stop != nil}, nil)
		if stop != nil {
			return stop
		}
		if wrote != nil {
			return s.left(wrote)
		}
		return command.FailErr("%w", trainErr(err))
	}
}

// left returns the error of a write. A consumer that has gone is named.
func (s *feedStream) left(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errStuck):
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: the consumer does not read, so the stream has no end")}
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET):
		return command.FailErr("feed: the consumer left in epoch %d, after batch %d was written or before: continue with the token of its last frame (--resume)",
			s.run.Epoch(), s.run.Step())
	}
	return command.FailErr("feed: %w", err)
}

// batch writes a batch. Its tensors follow the header without a copy.
func (s *feedStream) batch(b *dataset.Sample) error {
	epoch, step := s.run.Epoch(), s.run.Step()
	h := FeedHeader{Epoch: &epoch, Step: &step, Key: &b.Key}
	at := int64(0)
	for i := range b.Values {
		t := &b.Values[i].Tensor
		f, size, offset := feedTensorOf(s.columns[i].Name, t.Desc), t.Size(), at
		if t.DType == tensor.Bytes {
			size = int64(len(t.Data))
		}
		f.Offset, f.Bytes = &offset, &size
		h.Tensors = append(h.Tensors, f)
		at += (size + FeedAlign - 1) / FeedAlign * FeedAlign
	}
	return s.frame(FeedBatch, h, b.Values)
}

// frame writes a frame.
func (s *feedStream) frame(kind FeedKind, h FeedHeader, payload []dataset.Value) (err error) {
	if h.Resume, err = token(s.run.State()); err != nil {
		return err
	}
	header, err := json.Marshal(h)
	if err != nil {
		return err
	}
	for (FeedHead+len(header))%FeedAlign != 0 {
		header = append(header, ' ')
	}
	size := int64(0)
	for _, t := range h.Tensors {
		size = *t.Offset + (*t.Bytes+FeedAlign-1)/FeedAlign*FeedAlign
	}
	head := append(make([]byte, 0, FeedHead), feedMagic...)
	head = binary.LittleEndian.AppendUint16(head, feedVersion)
	head = binary.LittleEndian.AppendUint16(head, uint16(kind))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(header)))
	head = binary.LittleEndian.AppendUint32(head, 0)
	head = binary.LittleEndian.AppendUint64(head, uint64(size))
	head = binary.LittleEndian.AppendUint64(head, s.frames)
	s.frames++

	sum := crc32.NewIEEE()
	out := bufio.NewWriterSize(s.w, 1<<16) // larger writes pass it
	w := io.MultiWriter(sum, out)
	if _, err := w.Write(append(head, header...)); err != nil {
		return err
	}
	for i := range payload {
		if err := tensor.WriteRaw(w, &payload[i].Tensor); err != nil {
			return err
		}
		size := *h.Tensors[i].Bytes
		if _, err := w.Write(make([]byte, (size+FeedAlign-1)/FeedAlign*FeedAlign-size)); err != nil {
			return err
		}
	}
	if _, err := out.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
		return err
	}
	return out.Flush()
}
