package matfile

import (
	"errors"
	"fmt"
)

// sparse reads a sparse matrix. Its rows ascend within a column.
func (p *parser) sparse(a *Array) error {
	if len(a.Dims) != 2 {
		return fmt.Errorf("sparse array of sizes %v, want two axes", a.Dims)
	}
	rows, err := p.indices("rows")
	if err != nil {
		return err
	}
	starts, err := p.indices("starts of columns")
	if err != nil {
		return err
	}
	kind, data, err := p.next()
	if err != nil {
		return fmt.Errorf("numbers: %w", err)
	}
	size := sizes[kind]
	switch {
	case size == 0:
		return fmt.Errorf("numbers of type %d", kind)
	case len(starts)-1 != a.Dims[1], starts[0] != 0:
		return fmt.Errorf("%d starts of columns, want %d from 0 on", len(starts), a.Dims[1]+1)
	}
	for c := range a.Dims[1] {
		from, to := starts[c], starts[c+1]
		if from > to || int(to) > len(rows) || int(to) > len(data)/size {
			return fmt.Errorf("column %d has numbers %d to %d, want some of %d rows and %d numbers", c, from, to, len(rows), len(data)/size)
		}
		below := int32(-1)
		for _, r := range rows[from:to] {
			if r <= below || int(r) >= a.Dims[0] {
				return fmt.Errorf("row %d after %d in column %d, want ascending ones below %d", r, below, c, a.Dims[0])
			}
			below = r
		}
	}
	a.kind, a.Data, a.order, a.rows, a.starts = kind, data, p.order, rows, starts
	return nil
}

// indices reads indices of a sparse matrix.
func (p *parser) indices(what string) ([]int32, error) {
	b, err := p.want(what, typeInt32)
	if err != nil {
		return nil, err
	}
	if err := p.charge(len(b)); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	l := make([]int32, len(b)/4)
	for i := range l {
		l[i] = int32(p.order.Uint32(b[4*i:]))
	}
	return l, nil
}

// Sparse calls each with the row, the column and the value of every number of a
// sparse matrix. Other elements are 0.
func (a *Array) Sparse(each func(row, col int, v float64)) error {
	if a.starts == nil {
		return errors.New("an array, want a sparse matrix")
	}
	size := sizes[a.kind]
	for c := range a.Dims[1] {
		for k := a.starts[c]; k < a.starts[c+1]; k++ {
			each(int(a.rows[k]), c, a.float(a.Data[int(k)*size:]))
		}
	}
	return nil
}
