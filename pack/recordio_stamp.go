package pack

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/store"
)

// stamp identifies an image file as it was packed: the start of a SHA-256 of
// its size and modification time or, with RecordIO.CompareContent, of its
// content. It is zero for a file that cannot be read.
type stamp [8]byte

// statStamp returns the stamp of a file's size and modification time.
func statStamp(ctx context.Context, files store.Opener, path string) (s stamp) {
	info, err := files.Stat(ctx, path)
	if err != nil {
		return s
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(info.Size))
	binary.LittleEndian.PutUint64(b[8:], uint64(info.Modified.UnixNano()))
	return contentStamp(b[:])
}

// contentStamp returns the stamp of a content.
func contentStamp(b []byte) stamp {
	sum := sha256.Sum256(b)
	return stamp(sum[:])
}

// unchanged compares the images that states packed with their files. Its error
// is an *ItemError with ErrChanged, for the first image that differs.
func (p *RecordIO) unchanged(ctx context.Context, output int, states []recordIOState) error {
	var want []byte
	for _, s := range states {
		want = append(want, s.Stamps...)
	}
	out := &p.Outputs[output]
	what := "size or modification time"
	if p.CompareContent {
		what = "content"
	}
	buffers := sync.Pool{New: func() any { return new([]byte) }}
	return ordered.Run(ctx, ordered.Options{To: len(want) / len(stamp{}), Workers: p.Workers}, func(ctx context.Context, _, i int) (stamp, error) {
		path := below(p.Root, out.Items[i].Path)
		if !p.CompareContent {
			return statStamp(ctx, p.folder, path), nil
		}
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		b, err := readFile(ctx, p.folder, (*buf)[:0], path, p.Image.Limits.Bytes)
		if *buf = b; err != nil {
			return stamp{}, nil // was it unreadable when it was packed?
		}
		return contentStamp(b), nil
	}, func(i int, got stamp, _ error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if got != stamp(want[i*len(stamp{}):]) {
			return fmt.Errorf("pack: %w", &ItemError{out.List, i, out.Items[i].Path, fmt.Errorf("%w: its %s is not that of the packed image", ErrChanged, what)})
		}
		return nil
	})
}

// validStates returns the states of an output that no later state took back,
// oldest first. A resumed run that goes back to an earlier state records it
// again.
func (p *RecordIO) validStates(output int, states []recordIOState) (valid []recordIOState, err error) {
	for _, s := range states {
		if s.Output != output {
			continue
		}
		from := s.Items - len(s.Stamps)/len(stamp{})
		for len(valid) > 0 && valid[len(valid)-1].Items > from {
			valid = valid[:len(valid)-1]
		}
		before := 0
		if len(valid) > 0 {
			before = valid[len(valid)-1].Items
		}
		if from != before || len(s.Stamps)%len(stamp{}) != 0 || len(s.Files) != len(p.files(output)) || s.Items > len(p.Outputs[output].Items) {
			return nil, fmt.Errorf("pack: %s: %w", p.Journal, ErrOther)
		}
		valid = append(valid, s)
	}
	return valid, nil
}
