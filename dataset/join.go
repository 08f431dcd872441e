package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"

	"github.com/infer-prep/infer-prep/tensor"
)

// Join adds the columns of a second input to each sample of the first one:
// those of the sample with the same key. So features and labels in different
// files need not be in the same order. The result has the length, the order and
// the index of the first input.
//
// Build reads the second input once and keeps it in memory. It must end, and be
// equal in every epoch; its keys must differ. A sample whose key it lacks is a
// bad sample, which Options.OnError handles. Samples of the second input that
// no key names are not used.
type Join struct {
	On    string `json:"on"`    // the key: a column of both inputs, bytes or one integer
	Bytes int64  `json:"bytes"` // limit of the second input in memory. Default: 1 GiB
}

func init() {
	Register(Info{Name: "join", Version: 1, New: func() Node { return &Join{On: "key", Bytes: 1 << 30} }, Doc: "columns of a second dataset, found by key"})
}

// Join adds the columns of the sample of table with the same value in the
// column on, which both have.
func (d *Dataset) Join(table *Dataset, on string) *Dataset {
	return Of(&Join{On: on, Bytes: 1 << 30}, d, table)
}

// Validate requires a column and a size of 0 or more.
func (n *Join) Validate() error {
	if n.On == "" || n.Bytes < 0 {
		return paramErr("on %q, %d bytes: want a column and 0 or more", n.On, n.Bytes)
	}
	return nil
}

func (n *Join) traits() traits { return traits{joins: true} }

// joinState is the second input in memory. It does not change after Build.
type joinState struct {
	key    int // the column of the first input
	from   []int
	rows   map[string]*Sample // by key, without the column of the key
	digest [32]byte           // of all keys and values
}

func (n *Join) build(b *Built, s *step) error {
	if len(s.in) != 2 {
		return defErr("%d inputs, want 2", len(s.in))
	}
	in, table := s.in[0], uncached(s.in[1])
	key, err := in.column(n.On)
	if err != nil {
		return err
	}
	column, err := table.column(n.On)
	if err != nil {
		return fmt.Errorf("input 1: %w", err)
	}
	for i, x := range []Column{in.columns[key], table.columns[column]} {
		if _, err := keyOf(nil, &tensor.Tensor{Desc: x.Desc}); err != nil {
			return fmt.Errorf("input %d: column %q: %w", i, n.On, err)
		}
	}
	if x := table.changing(); x != nil {
		return defErr("%s in the second input differs between epochs, want equal samples in all", x.path)
	}
	if table.size == Endless {
		return defErr("the second input, %s, is endless", table.path)
	}
	s.inherit()
	st := &joinState{key: key, rows: map[string]*Sample{}}
	s.columns = append([]Column{}, in.columns...)
	for i := range in.columns {
		st.from = append(st.from, i)
	}
	for i, c := range table.columns {
		if i != column {
			s.columns, st.from = append(s.columns, c), append(st.from, -1)
		}
	}
	if err := checkColumns(s.columns); err != nil {
		return err
	}
	if err := n.read(b, table, column, st); err != nil {
		return err
	}
	// Build has read the second input: nothing runs it from now on.
	s.in, s.table, s.state = s.in[:1], table, st
	return nil
}

// uncached returns s without Cache nodes, which nothing has placed yet.
func uncached(s *step) *step {
	for i := range s.in {
		s.in[i] = uncached(s.in[i])
	}
	if _, ok := s.node.(*Cache); ok {
		return s.in[0]
	}
	return s
}

// read reads the second input.
func (n *Join) read(b *Built, table *step, column int, st *joinState) (err error) {
	o := (&opener{b: b, stage: inline, bad: &badList{}, strict: true, logs: newHeldLogs(), watches: new([]*watching)}).singleRank()
	it, err := o.open(table, 0)
	if err != nil {
		return err
	}
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	var s Sample
	var text []byte
	h := sha256.New()
	for left := n.Bytes; ; {
		err := pull(b.building, it, &s)
		if err == io.EOF {
			st.digest = [32]byte(h.Sum(nil))
			return nil
		}
		if err != nil {
			return err
		}
		if text, err = keyOf(text[:0], &s.Values[column].Tensor); err != nil {
			return fmt.Errorf("%s: sample %q: %w", table.path, s.Key, err)
		}
		if old := st.rows[string(text)]; old != nil {
			return fmt.Errorf("%w: %s: samples %q and %q have the key %q", ErrData, table.path, old.Key, s.Key, text)
		}
		if left -= s.kept(); left < 0 {
			return fmt.Errorf("%w: %s has more than %d bytes", ErrParam, table.path, n.Bytes)
		}
		x := &Sample{Key: s.Key}
		fmt.Fprintf(h, "%q\n", text)
		for i := range s.Values {
			if i != column {
				x.Values = append(x.Values, Value{Tensor: *s.Values[i].Clone()})
				fmt.Fprintf(h, "%v %d\n", s.Values[i].Desc, len(x.Values[len(x.Values)-1].Data))
				h.Write(x.Values[len(x.Values)-1].Data)
			}
		}
		st.rows[string(text)] = x
	}
}

// keyOf appends a key as text to b. Its error says which types keys have.
func keyOf(b []byte, t *tensor.Tensor) ([]byte, error) {
	if t.DType == tensor.Bytes {
		return append(b, t.Data...), nil
	}
	if t.Shape.Rank() == 0 {
		x := int64(0)
		switch have := len(t.Data) > 0; t.DType {
		case tensor.Int64:
			if have {
				x = tensor.View[int64](t)[0]
			}
			return strconv.AppendInt(b, x, 10), nil
		case tensor.Int32:
			if have {
				x = int64(tensor.View[int32](t)[0])
			}
			return strconv.AppendInt(b, x, 10), nil
		}
	}
	return nil, defErr("the key is %v, want bytes, int32 or int64", t.Desc)
}

func (n *Join) from(s *step) []int { return s.state.(*joinState).from }

func (n *Join) worker(_ *Built, s *step) (worker, error) {
	return &joining{joinState: s.state.(*joinState)}, nil
}

// trace gives the columns of both inputs, of which the key is the first one's.
func (n *Join) trace(_ context.Context, _ *tracer, s *scope) error {
	if len(s.below) != 2 {
		return defErr("%d inputs, want 2", len(s.below))
	}
	s.below[1] = s.below[1].above(s.path)
	s.below[1].hidden[n.On] = true
	return nil
}

type joining struct {
	*joinState
	text []byte
}

func (w *joining) Do(_ context.Context, s *Sample) (err error) {
	if w.text, err = keyOf(w.text[:0], &s.Values[w.key].Tensor); err != nil {
		return err
	}
	row := w.rows[string(w.text)]
	if row == nil {
		return fmt.Errorf("%w: the second input has no sample with the key %q", ErrData, bytes.ToValidUTF8(w.text[:min(len(w.text), 200)], []byte("\ufffd")))
	}
	at := len(s.Values)
	s.Resize(at + len(row.Values))
	for i := range row.Values {
		s.Values[at+i].Share(&row.Values[i].Tensor)
	}
	return nil
}
