package pack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/store"
)

// ErrIncomplete reports an output in which shards are missing.
var ErrIncomplete = errors.New("incomplete")

// PlanPart packs a part of a plan's shards, one after another. A shard that is
// in Out already, complete and of this plan, is not packed again, so a part
// that was killed goes on when it is run again. Several processes can pack
// different parts, or the same, at once.
//
// A PlanPart must not be changed while Run is running.
type PlanPart struct {
	Plan *Plan
	// Out is the folder of the output, a path or a URI. Run creates it on the
	// local disk.
	Out string
	// Part is the number of the part, from 0, and Parts the number of all
	// parts. Default: part 0 of 1, all shards. Parts need not be the number of
	// shards: see Plan.Part.
	Part, Parts int
	// Workers is the number of samples that are processed at once. Default:
	// GOMAXPROCS.
	Workers int
	// Verify also compares checksums of the shards that are there, which reads
	// them. Default: only sizes.
	Verify bool
	// Force replaces shards of another plan. Default: they are an ErrOther.
	Force bool
	// OnError says what happens to a bad sample. Default: FailOnError, with a
	// *BadRecord. The shard then is not written.
	OnError ErrorPolicy
	// OnBad, if not nil, is called for every bad sample of a shard that Run
	// packs, by the goroutine that called Run.
	OnBad func(*BadRecord)
	// Progress, if not nil, is called with the number of finished samples of
	// the part and the number of all its samples, by the goroutine that called
	// Run.
	Progress func(done, total int64)
}

// PlanReport describes what a part, or a whole output, has.
type PlanReport struct {
	Shards  int              // complete shards
	Entries int64            // samples of the plan in them
	Records int64            // packed samples
	Bytes   int64            // size of the shards, without indexes
	Bad     map[string]int64 // the number of bad samples by their kind
	// Resumed is the number of shards that were there already.
	Resumed int
	// Missing lists the shards that are not complete, and Why their reasons.
	Missing []int
	Why     []string
}

func (r *PlanReport) add(s *PlanShard) {
	r.Shards++
	r.Entries += s.Entries
	r.Records += s.Records
	r.Bytes += s.Files[0].Size
	for _, b := range s.Bad {
		if r.Bad == nil {
			r.Bad = map[string]int64{}
		}
		r.Bad[b.Kind]++
	}
}

// BadRecords returns the number of bad samples.
func (r *PlanReport) BadRecords() int64 { return r.Entries - r.Records }

// Run packs the part. The report is valid in any case.
func (p *PlanPart) Run(ctx context.Context) (*PlanReport, error) {
	r := &PlanReport{}
	return r, p.run(ctx, r)
}

func (p *PlanPart) run(ctx context.Context, r *PlanReport) error {
	workers := cmp.Or(p.Workers, runtime.GOMAXPROCS(0))
	switch {
	case workers < 1:
		return fmt.Errorf("pack: plan: %d workers: want at least 1, or 0 for the default", workers)
	case p.OnError > SkipOnError:
		return fmt.Errorf("pack: plan: error policy %d: want FailOnError or SkipOnError", p.OnError)
	}
	from, to, err := p.Plan.Part(p.Part, cmp.Or(p.Parts, 1))
	if err != nil || from == to {
		return err
	}
	first, _ := p.Plan.Range(from)
	_, end := p.Plan.Range(to - 1)
	progress := func(position int64) {
		if p.Progress != nil {
			p.Progress(position-first, end-first)
		}
	}
	for shard := from; shard < to; shard++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s, _, err := p.Plan.Packed(ctx, p.Out, shard, p.Verify)
		if errors.Is(err, ErrOther) && p.Force {
			s, err = nil, nil
		}
		if err != nil {
			return err
		}
		if s != nil {
			r.Resumed++
		} else if s, err = p.shard(ctx, shard, workers, progress); err != nil {
			return err
		}
		r.add(s)
		_, after := p.Plan.Range(shard)
		progress(after)
	}
	return nil
}

// shard packs a shard.
func (p *PlanPart) shard(ctx context.Context, shard, workers int, progress func(int64)) (*PlanShard, error) {
	stopped := errors.New("stopped")
	return p.Plan.WriteShard(ctx, p.Out, shard, func(yield func(Record, error) bool) {
		var failed error // of reading the entries
		err := ordered.Stream(ctx, ordered.Options{Workers: workers}, func(ctx context.Context) iter.Seq[Entry] {
			return func(yield func(Entry) bool) {
				for e, err := range p.Plan.Entries(ctx, shard) {
					if err != nil {
						failed = err
						return
					}
					if !yield(e) {
						return
					}
				}
			}
		}, func(ctx context.Context, _ int, e Entry) (Record, error) {
			return p.Plan.Record(ctx, &e)
		}, func(e Entry, r Record, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil && r.Bad != "" {
				bad := &BadRecord{r.Position, r.Path, r.Bad, r.Why}
				if p.OnError == FailOnError {
					err = fmt.Errorf("pack: plan: %w", bad)
				} else if p.OnBad != nil {
					p.OnBad(bad)
				}
			}
			if err != nil {
				return err
			}
			if !yield(r, nil) {
				return stopped
			}
			progress(e.Position + 1)
			return nil
		})
		if err == nil {
			err = failed
		}
		if err != nil && !errors.Is(err, stopped) {
			yield(Record{}, err)
		}
	})
}

// planIndex is the index of all shards, NAME-index.json. For tar shards it is
// what the Python package wids reads; fields that wids does not know are ours.
type planIndex struct {
	Kind    string           `json:"__kind__,omitempty"`
	Version int              `json:"wids_version,omitempty"`
	Ours    int              `json:"infer_prep_index"` // 1
	Name    string           `json:"name"`
	Plan    string           `json:"plan"`
	Output  string           `json:"output"`
	Entries int64            `json:"entries"`
	Records int64            `json:"records"`
	Bytes   int64            `json:"bytes"`
	Bad     map[string]int64 `json:"bad"`
	Classes []string         `json:"classes,omitempty"`
	Shards  []planIndexShard `json:"shardlist"`
}

type planIndexShard struct {
	URL     string `json:"url"` // relative to the index
	Samples int64  `json:"nsamples"`
	Size    int64  `json:"filesize"`
	CRC     string `json:"crc32c"`
	Index   string `json:"index"`
}

// indexEnd is the end of the name of the index of all shards.
const indexEnd = "-index.json"

// PlanFinish are the options of Plan.Finish. The zero value is ready for use.
type PlanFinish struct {
	// Verify also compares checksums, which reads all shards.
	Verify bool
	// Workers is the number of shards that are checked at once. Default: 32,
	// since a store takes some milliseconds for each.
	Workers int
	// Progress, if not nil, is called with the number of checked shards, by the
	// goroutine that called Finish.
	Progress func(done int)
}

// Finish checks that all shards are in the folder out, complete and of this
// plan, and writes the index of all, NAME-index.json, and for classes the file
// classes.txt, one name a line. If shards are missing, it returns an
// ErrIncomplete and the report lists them. A file with the name of a shard that
// the plan does not have is an error: a pattern such as NAME-*.tar would match
// it. The report is valid in any case.
func (p *Plan) Finish(ctx context.Context, out string, o PlanFinish) (*PlanReport, error) {
	r := &PlanReport{}
	return r, p.finish(ctx, out, o, r)
}

func (p *Plan) finish(ctx context.Context, out string, o PlanFinish, r *PlanReport) error {
	none := p.rejectStrays(ctx, out)
	if none != nil && !errors.Is(none, fs.ErrNotExist) {
		return none
	}
	x := planIndex{Ours: 1, Name: p.Name, Plan: p.Digest, Output: p.Output.String(), Bad: map[string]int64{}, Classes: p.ClassNames}
	if p.Output == PlanShards {
		x.Kind, x.Version = "wids-shard-index-v1", 1
	}
	type checked struct {
		s   *PlanShard
		why string
	}
	err := ordered.Run(ctx, ordered.Options{To: p.Shards, Workers: cmp.Or(o.Workers, 32)}, func(ctx context.Context, _, shard int) (c checked, err error) {
		c.s, c.why, err = p.Packed(ctx, out, shard, o.Verify)
		return c, err
	}, func(shard int, c checked, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case c.s == nil:
			r.Missing, r.Why = append(r.Missing, shard), append(r.Why, c.why)
		default:
			r.add(c.s)
			f := c.s.Files
			x.Shards = append(x.Shards, planIndexShard{f[0].Name, c.s.Records, f[0].Size, f[0].CRC, f[1].Name})
		}
		if o.Progress != nil {
			o.Progress(shard + 1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(r.Missing) > 0 {
		if none != nil {
			return fmt.Errorf("%w: %w: all %d shards are missing", none, ErrIncomplete, p.Shards)
		}
		return fmt.Errorf("pack: plan: %s: %w: %d of %d shards are missing, the first is shard %d: %s", out, ErrIncomplete, len(r.Missing), p.Shards, r.Missing[0], r.Why[0])
	}
	x.Entries, x.Records, x.Bytes = r.Entries, r.Records, r.Bytes
	if r.Bad != nil {
		x.Bad = r.Bad
	}
	b, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	if p.ClassNames != nil {
		names := strings.Join(p.ClassNames, "\n") + "\n"
		if err := store.WriteFile(ctx, p.files, store.Join(out, classesFile), []byte(names)); err != nil {
			return fmt.Errorf("pack: plan: %w", err)
		}
	}
	if err := store.WriteFile(ctx, p.files, store.Join(out, p.Name+indexEnd), append(b, '\n')); err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	return nil
}

// rejectStrays returns an error if the folder has files that are named as
// shards and are not of the plan.
func (p *Plan) rejectStrays(ctx context.Context, out string) error {
	l, err := store.ListNames(ctx, p.files, out)
	if err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	suffixes := p.suffixes()
	for _, e := range l {
		rest, ok := strings.CutPrefix(e.Base, p.Name+"-")
		digits := strings.TrimLeft(rest, "0123456789")
		number := rest[:len(rest)-len(digits)]
		if !ok || number == "" || !slices.Contains([]string{suffixes[0], suffixes[1], summaryEnd}, digits) {
			continue
		}
		if n, err := strconv.Atoi(number); err != nil || n >= p.Shards || len(number) != p.digits() {
			return fmt.Errorf("pack: plan: %s: %w: the plan has %d shards: remove the file, which is of another pack", e.Name, ErrOther, p.Shards)
		}
	}
	return nil
}
