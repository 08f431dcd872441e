package distributed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/infer-prep/infer-prep/pack"
)

func init() {
	// Package register calls a DoFn without reflection, which saves little
	// beside an image. Its generic functions take half a minute to compile for
	// these types.
	beam.RegisterDoFn(reflect.TypeFor[shardsFn]())
	beam.RegisterDoFn(reflect.TypeFor[entriesFn]())
	beam.RegisterDoFn(reflect.TypeFor[recordFn]())
	beam.RegisterDoFn(reflect.TypeFor[writeFn]())
	beam.RegisterDoFn(reflect.TypeFor[finishFn]())
	register.Emitter1[int64]()
	register.Emitter1[pack.Entry]()
	register.Emitter2[int64, int64]()
	register.Emitter2[int64, pack.Record]()
	register.Iter1[pack.Record]()
	register.Iter1[int64]()
	beam.RegisterCoder(reflect.TypeFor[pack.Entry](), encodeEntry, decodeEntry)
	beam.RegisterCoder(reflect.TypeFor[pack.Record](), encodeRecord, decodeRecord)
}

// namespace is that of the counters.
const namespace = "infer-prep"

// The counters of the output. Those of bad samples have the kind appended.
const (
	outputShards  = "output_shards"
	outputEntries = "output_entries"
	outputRecords = "output_records"
	outputBytes   = "output_bytes"
	outputResumed = "output_resumed"
	outputBad     = "output_bad_"
)

func count(ctx context.Context, name string, n int64) {
	beam.NewCounter(namespace, name).Inc(ctx, n)
}

// planFn is the part of a DoFn that has the plan open.
type planFn struct {
	plan *pack.Plan
}

func (f *planFn) open(ctx context.Context, j *job) (err error) {
	f.plan, err = j.read(ctx)
	return err
}

// Teardown closes the plan.
func (f *planFn) Teardown() error {
	if f.plan == nil {
		return nil
	}
	p := f.plan
	f.plan = nil
	return p.Close()
}

// shardsFn emits the numbers of all shards.
type shardsFn struct {
	Shards int
}

func (f *shardsFn) ProcessElement(_ []byte, emit func(int64)) {
	for i := range f.Shards {
		emit(int64(i))
	}
}

// entriesFn emits the entries of a shard, or that it is there.
type entriesFn struct {
	Job job
	planFn
}

func (f *entriesFn) Setup(ctx context.Context) error { return f.open(ctx, &f.Job) }

func (f *entriesFn) ProcessElement(ctx context.Context, shard int64, emit func(pack.Entry), there func(int64, int64)) error {
	s, _, err := f.plan.Packed(ctx, f.Job.Out, int(shard), f.Job.Verify)
	if err != nil && !(f.Job.Force && errors.Is(err, pack.ErrOther)) {
		return err
	}
	if s != nil {
		count(ctx, "resumed", 1)
		there(0, 1)
		return nil
	}
	for e, err := range f.plan.Entries(ctx, int(shard)) {
		if err != nil {
			return err
		}
		emit(e)
	}
	return nil
}

// onRecord, if not nil, is called before each sample. Only tests set it.
var onRecord func()

// recordFn reads and processes a sample and emits it under its shard.
type recordFn struct {
	Job job
	planFn
}

func (f *recordFn) Setup(ctx context.Context) error { return f.open(ctx, &f.Job) }

func (f *recordFn) ProcessElement(ctx context.Context, e pack.Entry, emit func(int64, pack.Record)) error {
	if onRecord != nil {
		onRecord()
	}
	r, err := f.plan.Record(ctx, &e)
	if err != nil {
		return err
	}
	if r.Bad != "" {
		if f.Job.OnError == pack.FailOnError {
			return fmt.Errorf("distributed: %w", &pack.BadRecord{Position: r.Position, Path: r.Path, Kind: r.Bad, Why: r.Why})
		}
		count(ctx, "bad_"+r.Bad, 1)
	} else {
		count(ctx, "records", 1)
		count(ctx, "bytes", int64(len(r.Data)))
	}
	emit(int64(r.Shard), r)
	return nil
}

// writeFn writes a shard.
type writeFn struct {
	Job job
	planFn
}

func (f *writeFn) Setup(ctx context.Context) error { return f.open(ctx, &f.Job) }

func (f *writeFn) ProcessElement(ctx context.Context, shard int64, next func(*pack.Record) bool, written func(int64, int64)) error {
	var records []pack.Record
	var r pack.Record
	for next(&r) {
		records = append(records, r)
	}
	// The order within a group is not stable.
	slices.SortFunc(records, func(a, b pack.Record) int { return cmp.Compare(a.Position, b.Position) })
	if _, err := f.plan.WriteShard(ctx, f.Job.Out, int(shard), sequence(records)); err != nil {
		return err
	}
	count(ctx, "shards", 1)
	written(0, 0)
	return nil
}

func sequence(records []pack.Record) iter.Seq2[pack.Record, error] {
	return func(yield func(pack.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// finishFn writes the index of all shards when all of them are there.
type finishFn struct {
	Job job
	planFn
}

func (f *finishFn) Setup(ctx context.Context) error { return f.open(ctx, &f.Job) }

func (f *finishFn) ProcessElement(ctx context.Context, _ int64, resumed func(*int64) bool) error {
	var before, n int64
	for resumed(&n) {
		before += n
	}
	r, err := f.plan.Finish(ctx, f.Job.Out, pack.PlanFinish{})
	if err != nil {
		return err
	}
	count(ctx, outputShards, int64(r.Shards))
	count(ctx, outputEntries, r.Entries)
	count(ctx, outputRecords, r.Records)
	count(ctx, outputBytes, r.Bytes)
	count(ctx, outputResumed, before)
	for kind, n := range r.Bad {
		count(ctx, outputBad+kind, n)
	}
	return nil
}

// addCounter adds a counter of finishFn to a report.
func addCounter(r *pack.PlanReport, name string, n int64) {
	switch name {
	case outputShards:
		r.Shards += int(n)
	case outputEntries:
		r.Entries += n
	case outputRecords:
		r.Records += n
	case outputBytes:
		r.Bytes += n
	case outputResumed:
		r.Resumed += int(n)
	default:
		if kind, ok := strings.CutPrefix(name, outputBad); ok {
			if r.Bad == nil {
				r.Bad = map[string]int64{}
			}
			r.Bad[kind] += n
		}
	}
}
