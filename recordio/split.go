package recordio

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
)

// SplitOptions are the options of OpenSplit. The zero value reads all files in
// order.
type SplitOptions struct {
	// Part and Parts select part Part of Parts. Default 0 of 1.
	Part, Parts int
	// Text reads lines of text instead of records.
	Text bool
	// Recursive includes the files of folders below folders.
	Recursive bool
	// Index is the .idx file of all files together, with offsets in their
	// stream. With an index, parts are divided by number of records, sorted by
	// offset.
	Index string
	// Random shuffles the records of the part, in a new order in each epoch. It
	// requires an Index.
	Random bool
	// Pieces, if not 0, cuts the part into this many pieces, by the rule for
	// Parts*Pieces parts, and shuffles them in each epoch. The order within a
	// piece stays. Use it for files without an index.
	Pieces int
	// Seed is the seed of the random orders.
	Seed uint64
	// Chunk is the number of bytes that one read asks for. Default 8 MiB.
	Chunk int
	// Limit is the size of the largest record, in bytes. Default MaxRecord.
	Limit int
	// Lenient skips damage, as Options.Lenient does.
	Lenient bool
}

// Split reads one part of a set of files, epoch by epoch. It is for one
// goroutine at a time.
type Split struct {
	o      SplitOptions
	stream *Stream
	ranges []span // ranges of an epoch, sorted by position
	order  []int
	epoch  uint64
	at     int   // index in order
	pos    int64 // position of the next byte
	in     chunked
	past   Skipped
}

type span struct{ from, to int64 }

// OpenSplit expands names as store.Files does, and opens one part of the files.
func OpenSplit(ctx context.Context, o store.Opener, names []string, options SplitOptions) (_ *Split, err error) {
	p := options
	if p.Parts == 0 {
		p.Parts = 1
	}
	if p.Chunk == 0 {
		p.Chunk = 8 << 20
	}
	if p.Limit <= 0 || p.Limit > MaxRecord {
		p.Limit = MaxRecord
	}
	const most = 1 << 24 // parts and pieces
	switch {
	case p.Parts < 1 || p.Parts > most || p.Part < 0 || p.Part >= p.Parts:
		err = fmt.Errorf("part %d of %d", p.Part, p.Parts)
	case p.Pieces < 0 || p.Pieces > most/p.Parts:
		err = fmt.Errorf("%d pieces of %d parts", p.Pieces, p.Parts)
	case p.Text && p.Index != "":
		err = errors.New("an index of text, want one of records")
	case p.Random && p.Index == "":
		err = errors.New("random order of records without an index; use Pieces")
	case p.Pieces > 0 && p.Index != "":
		err = errors.New("pieces of records with an index; use Random")
	case p.Chunk < 1:
		err = fmt.Errorf("chunks of %d bytes", p.Chunk)
	}
	if err != nil {
		return nil, fmt.Errorf("recordio: split: %s: %w", store.RedactAll(names), err)
	}
	files, err := store.Files(ctx, o, names, p.Recursive)
	if err != nil {
		return nil, err
	}
	unit := int64(align)
	if p.Text {
		unit = 1
	}
	s := &Split{o: p}
	if s.stream, err = NewStream(ctx, o, files, unit); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	s.in.fill, s.in.ended = s.NextChunk, func(in Records) {
		if r, ok := in.(*Reader); ok {
			s.past = s.past.and(r.Skipped())
		}
	}
	if p.Index != "" {
		err = s.indexed(ctx, o)
	} else {
		pieces := max(p.Pieces, 1)
		for j := range pieces {
			var r span
			if r.from, r.to, err = s.stream.Part(p.Part*pieces+j, p.Parts*pieces, p.Text); err != nil {
				break
			}
			s.ranges = append(s.ranges, r)
		}
	}
	if err != nil {
		return nil, err
	}
	s.begin()
	return s, nil
}

// indexed divides the records of an index.
func (s *Split) indexed(ctx context.Context, o store.Opener) (err error) {
	f, err := o.Open(ctx, s.o.Index)
	if err != nil {
		return fmt.Errorf("recordio: %w", err)
	}
	entries, err := ReadIndex(s.o.Index, io.NewSectionReader(f, 0, f.Size()))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	part, end, err := s.stream.PartIndex(entries, s.o.Part, s.o.Parts, Options{Name: s.o.Index})
	if err != nil {
		return err
	}
	var places []int64
	for _, e := range part {
		places = append(places, e.Offset)
	}
	n := len(places)
	places = append(places, end)
	switch {
	case n == 0:
	case s.o.Random:
		for i := range n {
			s.ranges = append(s.ranges, span{places[i], places[i+1]})
		}
	default:
		s.ranges = []span{{places[0], places[n]}}
	}
	return nil
}

// begin sets the order of an epoch.
func (s *Split) begin() {
	s.order = s.order[:0]
	for i := range s.ranges {
		s.order = append(s.order, i)
	}
	if s.o.Random || s.o.Pieces > 0 {
		r := rng.NewKey(s.o.Seed, s.epoch, "split").At(uint64(s.o.Part))
		r.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
	}
	s.at = 0
	s.in.begin()
	if len(s.order) > 0 {
		s.pos = s.ranges[s.order[0]].from
	}
}

// Reset begins the next epoch, also before the end of the current one.
func (s *Split) Reset() {
	s.epoch++
	s.begin()
}

// Epoch returns the number of the epoch, from 0.
func (s *Split) Epoch() uint64 { return s.epoch }

// Size returns the total size of all files, not of the part.
func (s *Split) Size() int64 { return s.stream.Size() }

// NextChunk reads the next records of the part into c, and returns io.EOF at
// the end. If the files are not mapped, it reuses c's memory. If Next returned
// only some records of a chunk, NextChunk skips the others.
func (s *Split) NextChunk(c *Chunk) error {
	c.Text, c.lenient, c.limit = s.o.Text, s.o.Lenient, s.o.Limit
	for {
		if s.at >= len(s.order) {
			return io.EOF
		}
		r := s.ranges[s.order[s.at]]
		size := s.o.Chunk
		if s.o.Random {
			size = int(min(r.to-r.from, int64(s.o.Limit)*3+header)) // one record
		}
		rest, err := c.fill(s.stream, s.pos, r.to, size)
		if err == nil {
			s.pos = rest
			return nil
		}
		if err != io.EOF {
			return err
		}
		if s.at++; s.at < len(s.order) {
			s.pos = s.ranges[s.order[s.at]].from
		}
	}
}

// Next returns the next record or line of the part, valid until the next call,
// and io.EOF at the end of the epoch. It returns any other error again until
// Reset.
func (s *Split) Next() ([]byte, error) { return s.in.next() }

func (s Skipped) and(o Skipped) Skipped {
	s.Places, s.Bytes = s.Places+o.Places, s.Bytes+o.Bytes
	if s.First == nil {
		s.First = o.First
	}
	return s
}

// Skipped returns the damage that a lenient split skipped, in the chunks that
// Next has finished.
func (s *Split) Skipped() Skipped { return s.past }

// Close closes the files.
func (s *Split) Close() error { return s.stream.Close() }
