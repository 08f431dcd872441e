package recordio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
)

// SplitOptions are those of OpenSplit.
type SplitOptions struct {
	// Part of Parts is what this reader gets. Default: 0 of 1.
	Part, Parts int
	// Text splits text into lines instead of records.
	Text bool
	// Recursive takes files of folders below folders too.
	Recursive bool
	// Index is the .idx file of all files together, whose offsets are places of the
	// stream of them: parts are then divided by records, in the order of offsets.
	Index string
	// Random gives the records of the part in random order, another one in each
	// epoch. It wants an Index.
	Random bool
	// Pieces, if it is not 0, cuts the part into so many pieces, by the rule for
	// Parts*Pieces parts, and gives them in random order, another one in each epoch.
	// Within a piece the order stays. It is for files without an index.
	Pieces int
	// Seed is that of the random orders.
	Seed uint64
	// Chunk is how much is read at once, in bytes. Default: 8 MiB.
	Chunk int
	// Limit is the largest record that is read. Default: MaxRecord.
	Limit int
	// Lenient leaves out what is damaged, as a Reader's does.
	Lenient bool
}

// Split reads one part of several files, again and again. It is used by one
// goroutine at a time.
type Split struct {
	o      SplitOptions
	stream *Stream
	ranges []span // of an epoch, in the order of places
	order  []int
	epoch  uint64
	at     int   // in order
	pos    int64 // in the range; the next byte
	in     chunked
	past   Skipped
}

type span struct{ from, to int64 }

// OpenSplit opens one part of the files that names stands for, as store.Files
// expands them.
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
		return nil, fmt.Errorf("recordio: split: %s: %w", strings.Join(names, ", "), err)
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

// begin makes the order of an epoch.
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

// Reset begins the next epoch, wherever this one stands.
func (s *Split) Reset() {
	s.epoch++
	s.begin()
}

// Epoch is the number of the epoch, from 0.
func (s *Split) Epoch() uint64 { return s.epoch }

// Size is the bytes of all files, of which the part is one.
func (s *Split) Size() int64 { return s.stream.Size() }

// NextChunk makes c the next records of the part, in its own memory if the files
// are not in memory; io.EOF at the end. What Next has begun to give is passed over.
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

// Next is the next record or line of the part, valid until the next call; io.EOF
// at the end of the epoch. After another error there is nothing more, until Reset.
func (s *Split) Next() ([]byte, error) { return s.in.next() }

func (s Skipped) and(o Skipped) Skipped {
	s.Places, s.Bytes = s.Places+o.Places, s.Bytes+o.Bytes
	if s.First == nil {
		s.First = o.First
	}
	return s
}

// Skipped is what a lenient split left out, of the chunks that Next has gone through.
func (s *Split) Skipped() Skipped { return s.past }

// Close closes the files.
func (s *Split) Close() error { return s.stream.Close() }
