// Package cifar reads CIFAR's binary files. A record has some labels, one byte
// each, and 32x32 pixels in three planes.
package cifar

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const side = 32

// plane is the number of bytes of one colour.
const plane = side * side

// Format describes the records.
type Format struct {
	Package string   // for errors
	Labels  []string // the labels' columns, in the record's order
	Classes []int    // the number of classes of each label
	Class   int      // index of the label that is the row's class
	Names   string   // file with the names of that label's classes
}

func (f *Format) size() int64 { return int64(len(f.Labels) + 3*plane) }

type rows struct {
	*Format
	parts   []part
	n       int64
	classes map[string]int32
	// scratch holds *[]byte for records as stored.
	scratch sync.Pool
}

type part struct {
	*files.Data
	n    int64
	keys files.Keys
}

// Open opens the files in the order of their rows.
func (f *Format) Open(ctx context.Context, o store.Opener, dir string, names ...string) (dataset.Data, error) {
	d := &rows{Format: f}
	d.scratch.New = func() any { b := make([]byte, f.size()); return &b }
	err := d.open(ctx, o, dir, names)
	if err != nil {
		d.Close()
		return nil, fmt.Errorf("%s: %w", f.Package, err)
	}
	return d, nil
}

func (d *rows) open(ctx context.Context, o store.Opener, dir string, names []string) (err error) {
	if d.classes, err = files.Names(ctx, o, dir, d.Names); err != nil {
		return err
	}
	if n := len(d.classes); n > d.Classes[d.Format.Class] {
		return fmt.Errorf("%w: %s has %d names, want at most %d", dataset.ErrData, d.Names, n, d.Classes[d.Format.Class])
	}
	for _, name := range names {
		f, err := files.Open(ctx, o, dir, name)
		if err != nil {
			return err
		}
		d.parts = append(d.parts, part{Data: f}) // Close closes it from now on
		if f.Packed {
			return f.Errorf(0, "a gzip, want the file unpacked")
		}
		n := f.Size / d.size()
		if n == 0 || f.Size%d.size() != 0 {
			return f.Errorf(n*d.size(), "the file has %d bytes, want records of %d", f.Size, d.size())
		}
		p := &d.parts[len(d.parts)-1]
		p.n, p.keys = n, files.NewKeys(name, n)
		d.n += n
	}
	return nil
}

func (d *rows) Columns() []dataset.Column {
	c := []dataset.Column{{Name: "image", Desc: tensor.Image(tensor.Uint8, tensor.HWC, side, side, 3)}}
	for _, l := range d.Labels {
		c = append(c, dataset.Column{Name: l, Desc: tensor.Desc{DType: tensor.Int32}})
	}
	return c
}

func (d *rows) Len() int64 { return d.n }

// at returns the part with row i and the row's index in it.
func (d *rows) at(i int64) (*part, int64, error) {
	if err := files.Index(i, d.n); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", d.Package, err)
	}
	k := 0
	for ; i >= d.parts[k].n; k++ {
		i -= d.parts[k].n
	}
	return &d.parts[k], i, nil
}

// label returns label l of the record at an offset.
func (d *rows) label(p *part, record []byte, at int64, l int) (int32, error) {
	if int(record[l]) >= d.Classes[l] {
		return 0, fmt.Errorf("%s: %w", d.Package, p.Errorf(at+int64(l), "%s %d, want one of %d classes", d.Labels[l], record[l], d.Classes[l]))
	}
	return int32(record[l]), nil
}

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, i, err := d.at(i)
	if err != nil {
		return err
	}
	s.Key = p.keys.At(i)
	buf := d.scratch.Get().(*[]byte)
	defer d.scratch.Put(buf)
	record := *buf
	at := i * d.size()
	if err := p.Fill(record, at); err != nil {
		return fmt.Errorf("%s: %w", d.Package, err)
	}
	for l := range d.Labels {
		c, err := d.label(p, record, at, l)
		if err != nil {
			return err
		}
		if err := s.Values[1+l].SetInt32(c); err != nil {
			return err
		}
	}
	if err := s.Column("image").Reset(tensor.Image(tensor.Uint8, tensor.HWC, side, side, 3)); err != nil {
		return err
	}
	out, pixels := s.Column("image").Data[:3*plane], record[len(d.Labels):]
	r, g, b := pixels[:plane], pixels[plane:2*plane], pixels[2*plane:3*plane]
	for k := range r {
		out[3*k], out[3*k+1], out[3*k+2] = r[k], g[k], b[k]
	}
	return nil
}

func (d *rows) Class(i int64) (int64, error) {
	p, i, err := d.at(i)
	if err != nil {
		return 0, err
	}
	buf := d.scratch.Get().(*[]byte)
	defer d.scratch.Put(buf)
	at := i * d.size()
	if err := p.Fill((*buf)[:len(d.Labels)], at); err != nil {
		return 0, fmt.Errorf("%s: %w", d.Package, err)
	}
	c, err := d.label(p, *buf, at, d.Format.Class)
	return int64(c), err
}

// Keys yields the name and size of each file.
func (d *rows) Keys(yield func(string) bool) {
	for i := range d.parts {
		if !yield(files.SizeKey(d.parts[i].Name, d.parts[i].Size)) {
			return
		}
	}
}

func (d *rows) ClassIndex() map[string]int32 { return d.classes }

func (d *rows) Close() (err error) {
	for _, p := range slices.Backward(d.parts) {
		if e := p.Data.Close(); err == nil {
			err = e
		}
	}
	return err
}
