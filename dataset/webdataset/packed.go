package webdataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
)

// packed is a compressed shard, which is decompressed from its start. Samples
// before the wanted one are held until they are wanted, too.
type packed struct {
	files store.Opener
	name  string
	keys  []string
	held  *held

	mu   sync.Mutex
	r    *webdataset.Reader // nil before the first sample and after the last
	next int                // the sample that r returns
}

// openPacked reads a compressed shard once for the keys of its samples.
func openPacked(ctx context.Context, files store.Opener, name string, h *held) (*packed, webdataset.Ignored, error) {
	keys, ignored, err := webdataset.Keys(ctx, files, name)
	return &packed{files: files, name: name, keys: keys, held: h}, ignored, err
}

func (p *packed) Len() int         { return len(p.keys) }
func (p *packed) Key(i int) string { return p.keys[i] }

// Read returns sample i, which nobody writes afterwards.
func (p *packed) Read(ctx context.Context, i int, _ *webdataset.Buffer) (*webdataset.Sample, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.held.take(p, i); s != nil {
		return s, true, nil
	}
	if p.r == nil || i < p.next {
		if err := p.rewind(ctx); err != nil {
			return nil, false, err
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		s, err := p.r.Next()
		if err == io.EOF || err == nil && s.Key != p.keys[p.next] {
			err = fmt.Errorf("webdataset: %s: it was changed: it had sample %q when it was opened", store.Redact(p.name), p.keys[p.next])
		}
		if err != nil {
			return nil, false, errors.Join(err, p.end())
		}
		own := s.Clone()
		if p.next++; p.next == len(p.keys) {
			if err := p.end(); err != nil {
				return nil, false, err
			}
		}
		if p.next == i+1 {
			return own, true, nil
		}
		p.held.put(p, p.next-1, own)
	}
}

// rewind starts to read the shard anew.
func (p *packed) rewind(ctx context.Context) (err error) {
	if err = p.end(); err != nil {
		return err
	}
	p.r, err = webdataset.Open(ctx, p.files, p.name, webdataset.Options{})
	p.next = 0
	return err
}

// end closes the reader.
func (p *packed) end() error {
	if p.r == nil {
		return nil
	}
	err := p.r.Close()
	p.r = nil
	return err
}

func (p *packed) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end()
}

// maxHeld is the most bytes that are held of all compressed shards together.
const maxHeld = 128 << 20

// held is samples that were read before they were wanted. If they are too many,
// the oldest are dropped; a dropped sample that is wanted is read again, from
// the start of its shard.
type held struct {
	limit int // bytes
	mu    sync.Mutex
	all   map[place]*webdataset.Sample
	order []place // by age, with some that are not held any more
	bytes int
}

type place struct {
	shard *packed
	i     int
}

func size(s *webdataset.Sample) (n int) {
	for _, f := range s.Fields {
		n += len(f.Data)
	}
	return n
}

func (h *held) take(p *packed, i int) *webdataset.Sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.remove(place{p, i})
}

func (h *held) remove(at place) *webdataset.Sample {
	s := h.all[at]
	if s != nil {
		h.bytes -= size(s)
		delete(h.all, at)
	}
	return s
}

func (h *held) put(p *packed, i int, s *webdataset.Sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := place{p, i}
	h.remove(at) // it was read twice
	if h.all == nil {
		h.all = map[place]*webdataset.Sample{}
	}
	h.all[at] = s
	h.bytes += size(s)
	h.order = append(h.order, at)
	for h.bytes > h.limit || len(h.order) > 2*len(h.all)+1024 {
		h.remove(h.order[0])
		h.order = h.order[1:]
	}
}
