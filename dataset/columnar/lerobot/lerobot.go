// Package lerobot reads the tables of LeRobot's data sets, without their
// videos. Columns: those of the tables, and task. Reference: LeRobot's format,
// and datasets.
package lerobot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/columnar/internal/table"
	"github.com/infer-prep/infer-prep/dataset/columnar/parquet"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/textfile"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// LeRobot reads the frames of a data set of LeRobot, versions 2.0 to 3.0 of its
// format: a folder with meta/info.json, and Parquet files with a row for each
// frame. Videos are not read: a feature that is a video is no column.
//
// Columns: those of the Parquet files, as the source parquet reads them, and
// task, or the chosen ones. An image is its encoded bytes. A feature has the
// shape that info.json states, but one of shape [1] is a scalar if the files
// have it so. task is the text that meta/tasks.jsonl or meta/tasks.parquet has
// for the row's task_index.
//
// Version 2 has a file for each episode, whose name info.json states; in
// version 3 all files below data are read, sorted. Open compares the number of
// frames with info.json. The Key is the file and the row's number in it, as in
// the source parquet.
//
// Reference: the layouts of LeRobot's format, without a run of LeRobot itself.
// datasets 5.2.0's load_dataset has the same rows in the same order.
type LeRobot struct {
	// Dir is the folder with meta and data.
	Dir string `json:"dir"`
	// Columns are the chosen columns, in this order. Default: all.
	Columns []string `json:"columns"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "lerobot", Version: 1, New: func() dataset.Node { return New("") },
		Doc: "the frames of LeRobot's data sets, without videos",
	})
}

// New returns a source of a folder with all columns.
func New(dir string) *LeRobot { return &LeRobot{Dir: dir, Columns: []string{}} }

// Validate requires distinct column names.
func (o *LeRobot) Validate() error { return table.CheckNames([]string{o.Dir}, o.Columns) }

const (
	maxInfo     = 64 << 20 // bytes of info.json
	maxEpisodes = 1 << 24
	maxTasks    = 1 << 20
)

// info is meta/info.json.
type info struct {
	Version  string `json:"codebase_version"`
	Episodes int64  `json:"total_episodes"`
	Frames   int64  `json:"total_frames"`
	Chunk    int64  `json:"chunks_size"`
	Path     string `json:"data_path"`
	Features map[string]struct {
		DType string `json:"dtype"`
		Shape []int  `json:"shape"`
	} `json:"features"`
}

// Open opens the tables.
func (o *LeRobot) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d, err := o.open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("lerobot: %w", err)
	}
	return d, nil
}

func (o *LeRobot) open(ctx context.Context, s store.Opener) (_ *rows, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	name := store.Join(o.Dir, "meta/info.json")
	b, err := store.ReadFile(ctx, s, name, nil, maxInfo)
	if err != nil {
		return nil, err
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(name), fmt.Errorf(format, args...))
	}
	var x info
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, bad("%w", err)
	}
	for _, c := range o.Columns {
		if x.Features[c].DType == "video" {
			return nil, fmt.Errorf("%w: column %q is a video, and videos are not read", dataset.ErrParam, c)
		}
	}
	var list []string
	switch {
	case strings.HasPrefix(x.Version, "v2."):
		if list, err = x.episodes(); err != nil {
			return nil, bad("%w", err)
		}
		for i, n := range list {
			list[i] = store.Join(o.Dir, n)
		}
	case strings.HasPrefix(x.Version, "v3."):
		list = []string{store.Join(o.Dir, "data")}
	default:
		return nil, bad("version %q, want v2.0 to v3.0", x.Version)
	}
	src := parquet.New(list...)
	task := slices.Index(o.Columns, "task")
	for _, c := range o.Columns {
		if c != "task" {
			src.Columns = append(src.Columns, c)
		}
	}
	index := slices.Index(src.Columns, "task_index")
	if task >= 0 && index < 0 {
		index = len(src.Columns)
		src.Columns = append(src.Columns, "task_index")
	}
	in, err := src.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	d := &rows{in: in.(tables), task: task, index: index}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if d.in.Len() != x.Frames {
		return nil, bad("total_frames is %d, the tables have %d rows", x.Frames, d.in.Len())
	}
	if err := d.describe(o, &x); err != nil {
		return nil, bad("%w", err)
	}
	if d.task >= 0 {
		if d.tasks, err = tasks(ctx, s, o.Dir); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// episodes returns the names of the files of version 2.
func (x *info) episodes() ([]string, error) {
	if x.Episodes < 1 || x.Episodes > maxEpisodes || x.Chunk < 1 {
		return nil, fmt.Errorf("%d total_episodes in chunks of %d, want 1 to %d in chunks of 1 or more", x.Episodes, x.Chunk, maxEpisodes)
	}
	l := make([]string, x.Episodes)
	for i := range l {
		n := int64(i)
		l[i] = strings.NewReplacer("{episode_chunk:03d}", fmt.Sprintf("%03d", n/x.Chunk), "{episode_index:06d}", fmt.Sprintf("%06d", n)).Replace(x.Path)
		if !fs.ValidPath(l[i]) || strings.ContainsAny(l[i], "{};*?[") || i > 0 && l[i] == l[i-1] {
			return nil, fmt.Errorf("data_path %q, want a path with {episode_chunk:03d} and {episode_index:06d} within the folder", x.Path)
		}
	}
	return l, nil
}

// tables is the rows of the Parquet files.
type tables interface {
	dataset.Stamped
	dataset.Keyed
	Shards() []int64
}

type rows struct {
	in      tables
	columns []dataset.Column
	from    []int // the column of in; -1 for task
	task    int   // the place of the column task, or -1
	index   int   // the column of in with the number of a row's task
	tasks   map[int64]string
	memory  sync.Pool // of *dataset.Sample of in
}

// describe sets the columns. Their shapes are those of info.json.
func (d *rows) describe(o *LeRobot, x *info) error {
	all := d.in.Columns()
	names := o.Columns
	if len(names) == 0 {
		for _, c := range all {
			names = append(names, c.Name)
		}
		if d.index = slices.Index(names, "task_index"); d.index >= 0 && !slices.Contains(names, "task") {
			d.task = len(names)
			names = append(names, "task")
		}
	}
	for i, name := range names {
		if i == d.task {
			d.columns, d.from = append(d.columns, dataset.Column{Name: name, Desc: tensor.Encoded()}), append(d.from, -1)
			continue
		}
		k := slices.IndexFunc(all, func(c dataset.Column) bool { return c.Name == name })
		c := all[k]
		if f, ok := x.Features[name]; ok && c.Desc.DType != tensor.Bytes && c.Desc.Shape.Rank() == len(f.Shape) {
			for a, n := range f.Shape {
				if n < 0 {
					return fmt.Errorf("feature %q has the shape %v", name, f.Shape)
				}
				c.Desc.Shape = c.Desc.Shape.With(a, n)
			}
		}
		d.columns, d.from = append(d.columns, c), append(d.from, k)
	}
	if d.task >= 0 {
		if c := all[d.index].Desc; c != (tensor.Desc{DType: tensor.Int64}) {
			return fmt.Errorf("task_index is %v, want int64", c)
		}
	}
	return nil
}

// tasks reads the texts of the tasks by their numbers.
func tasks(ctx context.Context, s store.Opener, dir string) (map[int64]string, error) {
	l := map[int64]string{}
	add := func(i int64, text string) error {
		if _, twice := l[i]; twice || len(l) == maxTasks {
			return fmt.Errorf("%w: meta/tasks of %s: task_index %d twice, or more than %d tasks", dataset.ErrData, store.Redact(dir), i, maxTasks)
		}
		l[i] = text
		return nil
	}
	name := store.Join(dir, "meta/tasks.jsonl")
	if _, err := s.Stat(ctx, name); err == nil {
		return l, each(ctx, s, textfile.New(name), func(x *dataset.Sample) error {
			var t struct {
				Index *int64  `json:"task_index"`
				Task  *string `json:"task"`
			}
			err := json.Unmarshal(x.Values[0].Data, &t)
			if err == nil && (t.Index == nil || t.Task == nil) {
				err = errors.New("want task_index and task")
			}
			if err != nil {
				return fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(x.Key), err)
			}
			return add(*t.Index, *t.Task)
		})
	}
	// pandas writes the index of its table, the texts, as the last column.
	src := parquet.New(store.Join(dir, "meta/tasks.parquet"))
	return l, each(ctx, s, src, func(x *dataset.Sample) error {
		if len(x.Values) != 2 {
			return fmt.Errorf("%w: %s: %d columns, want task_index and the text", dataset.ErrData, store.Redact(x.Key), len(x.Values))
		}
		i, text := &x.Values[0], &x.Values[1]
		if i.DType == tensor.Bytes {
			i, text = text, i
		}
		if i.Desc != (tensor.Desc{DType: tensor.Int64}) || text.DType != tensor.Bytes {
			return fmt.Errorf("%w: %s: columns of %v and %v, want task_index and the text", dataset.ErrData, store.Redact(x.Key), i.Desc, text.Desc)
		}
		return add(tensor.View[int64](&i.Tensor)[0], string(text.Data))
	})
}

// each calls do for each row of a source.
func each(ctx context.Context, s store.Opener, src dataset.Source, do func(*dataset.Sample) error) (err error) {
	data, err := src.Open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	r, x := data.(dataset.Rows), dataset.NewSample(data.Columns())
	for i := range r.Len() {
		if err := r.Read(ctx, i, x); err != nil {
			return err
		}
		if err := do(x); err != nil {
			return err
		}
	}
	return nil
}

// Columns returns the chosen columns.
func (d *rows) Columns() []dataset.Column { return d.columns }

// Len returns the number of frames.
func (d *rows) Len() int64 { return d.in.Len() }

// Shards returns the first row of each file.
func (d *rows) Shards() []int64 { return d.in.Shards() }

// Keys yields the name and size of each file.
func (d *rows) Keys(yield func(string) bool) { d.in.Keys(yield) }

// Stamp implements dataset.Stamped.
func (d *rows) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	return d.in.Stamp(ctx, i, b)
}

// Read reads a frame.
func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return fmt.Errorf("lerobot: %w", err)
	}
	x, _ := d.memory.Get().(*dataset.Sample)
	if x == nil {
		x = dataset.NewSample(d.in.Columns())
	}
	defer d.memory.Put(x)
	if err := d.in.Read(ctx, i, x); err != nil {
		return fmt.Errorf("lerobot: %w", err)
	}
	s.Key = x.Key
	for k, c := range d.columns {
		if d.from[k] < 0 {
			n := tensor.View[int64](&x.Values[d.index].Tensor)[0]
			text, ok := d.tasks[n]
			if !ok {
				return fmt.Errorf("lerobot: %w: %s: task %s has no text in meta/tasks", dataset.ErrData, store.Redact(s.Key), strconv.FormatInt(n, 10))
			}
			copy(s.Values[k].Bytes(len(text)), text)
			continue
		}
		v := &x.Values[d.from[k]]
		if !c.Desc.Matches(v.Desc) {
			return fmt.Errorf("lerobot: %w: %s: column %q is %v, want %v as in info.json", dataset.ErrData, store.Redact(s.Key), c.Name, v.Desc, c.Desc)
		}
		if err := s.Values[k].Copy(&v.Tensor); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files.
func (d *rows) Close() error { return d.in.Close() }
