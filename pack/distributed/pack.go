package distributed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/store"
)

// Options says what a pipeline packs, and where.
type Options struct {
	// Plan is the name of a plan, as "infer-prep pack plan" or pack.WritePlan
	// writes it.
	Plan string
	// Root replaces the plan's folder of the input. Default: the plan's.
	Root string
	// Out is the folder of the output.
	Out string
	// Verify also compares checksums of the shards that are there, which reads
	// them. Default: only sizes.
	Verify bool
	// Force replaces shards of another plan. Default: they are an error that
	// wraps pack.ErrOther.
	Force bool
	// OnError says what happens to a bad sample. Default: pack.FailOnError, the
	// pipeline fails. With pack.SkipOnError the sample is counted, and listed
	// in the summary of its shard.
	OnError pack.ErrorPolicy
}

// job is Options with the digest of the plan, so that all workers have the plan
// that the pipeline was built for. Beam sends it as JSON.
type job struct {
	Options
	Digest string
}

// read opens the plan of a job.
func (j *job) read(ctx context.Context) (*pack.Plan, error) {
	p, err := pack.ReadPlan(ctx, store.URI, j.Plan, pack.PlanRead{Root: j.Root})
	if err != nil {
		return nil, err
	}
	if j.Digest != "" && p.Digest != j.Digest {
		return nil, errors.Join(fmt.Errorf("distributed: %s: %w: digest %.16s…: the pipeline was built for %.16s…", j.Plan, pack.ErrPlan, p.Digest, j.Digest), p.Close())
	}
	return p, nil
}

// Pack adds the packing of a plan to the pipeline of s. It reads the plan to
// check it. A pipeline can pack several plans, into different folders.
func Pack(ctx context.Context, s beam.Scope, o Options) error {
	switch {
	case o.Plan == "" || o.Out == "":
		return fmt.Errorf("distributed: plan %q, output %q: want both", o.Plan, o.Out)
	case o.OnError > pack.SkipOnError:
		return fmt.Errorf("distributed: error policy %d: want FailOnError or SkipOnError", o.OnError)
	}
	for _, name := range []*string{&o.Plan, &o.Root, &o.Out} {
		if *name == "" || !store.IsLocal(store.URI, *name) {
			continue
		}
		abs, err := filepath.Abs(strings.TrimPrefix(*name, "file://"))
		if err != nil {
			return fmt.Errorf("distributed: %w", err)
		}
		*name = abs // workers have other current folders
	}
	j := job{Options: o}
	p, err := j.read(ctx)
	if err != nil {
		return err
	}
	j.Digest = p.Digest
	if err := p.Close(); err != nil {
		return fmt.Errorf("distributed: %w", err)
	}

	s = s.Scope("Pack " + p.Name)
	shards := beam.Reshuffle(s, beam.ParDo(s, &shardsFn{p.Shards}, beam.Impulse(s)))
	entries, there := beam.ParDo2(s, &entriesFn{Job: j}, shards)
	records := beam.ParDo(s, &recordFn{Job: j}, beam.Reshuffle(s, entries))
	written := beam.ParDo(s, &writeFn{Job: j}, beam.GroupByKey(s, records))
	// A plan has at least one shard, so the last group exists.
	beam.ParDo0(s, &finishFn{Job: j}, beam.GroupByKey(s, beam.Flatten(s, there, written)))
	return nil
}

// Report returns what the output of a finished pipeline has: what
// [pack.Plan.Finish] reported, and Resumed. It is nil if the runner keeps no
// counters, or the last step has not run.
func Report(result beam.PipelineResult) *pack.PlanReport {
	r := &pack.PlanReport{}
	if result == nil {
		return nil
	}
	for _, c := range result.Metrics().AllMetrics().Counters() {
		if c.Namespace() == namespace {
			addCounter(r, c.Name(), max(c.Committed, c.Attempted))
		}
	}
	if r.Shards == 0 {
		return nil
	}
	return r
}
