package pack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/store"
)

// plannedFlags are the flags of pack itself, which packs the shards of a plan.
type plannedFlags struct {
	plan, out, root string
	shard           string
	jobs            int
	bad             string
	verify, force   bool
	json, quiet     bool
	limits          codec.Limits
	outside         command.Outside
}

func (f *plannedFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.addPlan(cmd)
	fl.BoolVar(&f.verify, "verify", false, "compare the checksums of shards that are there, not only their sizes")
	fl.StringVar(&f.shard, "shard", "0/1", "pack part `i/n` of the shards, 0 <= i < n")
	fl.StringVar(&f.bad, "bad", "skip", "`WHAT` to do with a sample that cannot be packed: skip it and report it, or fail")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "process `N` samples at once; the output does not depend on it")
	fl.Lookup("jobs").DefValue = "one for each CPU" // help and man pages are the same everywhere
	fl.BoolVar(&f.force, "force", false, "replace shards of another plan")
	command.Complete(cmd, "bad", "skip", "fail")
}

// addPlan adds the flags that pack and pack finish have in common.
func (f *plannedFlags) addPlan(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.plan, "plan", "", "use the plan `PLAN.json`, a path or a URI")
	fl.StringVarP(&f.out, "output", "o", "", "`OUT`, the folder or URI of the shards")
	fl.StringVar(&f.root, "root", "", "the input's folder `DIR` on this machine")
	fl.Lookup("root").DefValue = "the plan's, if the plan's folder holds it"
	f.limits = codec.DefaultLimits()
	fl.Var((*command.Limit)(&f.limits.Pixels), "limit-pixels", "refuse plans that allow images of more pixels; 0 means no limit")
	fl.Var((*command.Limit)(&f.limits.Bytes), "limit-bytes", "refuse plans that allow more memory for one image; 0 means no limit")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	f.outside.Add(cmd)
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print neither progress nor a summary")
	command.Must(cmd.MarkFlagFilename("plan", "json"))
	command.Must(cmd.MarkFlagDirname("output"))
	command.Must(cmd.MarkFlagDirname("root"))
}

// open checks the flags and opens the plan.
func (f *plannedFlags) open(ctx context.Context) (*pack.Plan, error) {
	switch {
	case f.plan == "":
		return nil, command.UsageErr("no plan: want --plan PLAN.json")
	case f.out == "":
		return nil, command.UsageErr("no output: want -o with a folder or a URI")
	}
	p, err := pack.ReadPlan(ctx, f.outside.Files(), f.plan, pack.PlanRead{Root: f.root, Limits: f.limits})
	return p, plannedErr(ctx, err)
}

// foreign returns an error if the plan, which may be somebody else's, reads a
// folder that is not below its own, and the user did not name that folder.
func (f *plannedFlags) foreign(p *pack.Plan) error {
	if f.root != "" || bool(f.outside) {
		return nil
	}
	dir, below := store.Dir(paths.TrimFile(f.plan)), false
	if paths.IsURI(p.Root) || paths.IsURI(dir) {
		rest, ok := strings.CutPrefix(p.Root+"/", strings.TrimSuffix(store.Path(dir), "/")+"/")
		below = ok && paths.IsURI(dir) && !strings.Contains(rest, "..") && !strings.Contains(rest, "%")
	} else {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return command.FailErr("%w", err)
		}
		rel, err := filepath.Rel(dir, p.Root)
		below = err == nil && filepath.IsLocal(rel)
	}
	if below {
		return nil
	}
	return command.UsageErr("%s: the plan reads %s, which is not in the plan's folder: want --root with the folder to read", paths.Shown(f.plan), paths.Shown(p.Root))
}

// plannedErr returns the error of a planned pack with its exit status.
func plannedErr(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted; give the same command again to go on")}
	case errors.Is(err, pack.ErrOther):
		return command.UsageErr("%w; want another output folder, or --force of pack --plan to replace it", err)
	case errors.Is(err, pack.ErrPlan):
		hint := ""
		if errors.Is(err, pack.ErrEncoder) {
			hint = command.InFull(jpegli)
		}
		return command.UsageErr("%w%s", err, hint)
	}
	return command.WrapFail(paths.ErrorOf(err))
}

// parsePart parses the value of --shard.
func parsePart(s string) (part, parts int, err error) {
	a, b, ok := strings.Cut(s, "/")
	part, err1 := strconv.Atoi(a)
	parts, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || part < 0 || parts < 1 || part >= parts {
		return 0, 0, command.UsageErr("--shard %q: want i/n with 0 <= i < n, such as 0/16 for the first of 16 parts", s)
	}
	return part, parts, nil
}

// PlannedReport is what --json prints of a part or of all shards.
type PlannedReport struct {
	Shards  int                 `json:"shards"`  // complete
	Of      int                 `json:"of"`      // shards of the part, or all
	Resumed int                 `json:"resumed"` // that were there already
	Samples int64               `json:"samples"` // of the plan, in these shards
	Records int64               `json:"records"`
	Bytes   int64               `json:"bytes"`
	Bad     map[string]int64    `json:"bad"`
	Missing []int               `json:"missing"`
	Seconds float64             `json:"seconds"`
	Store   *command.StoreStats `json:"store,omitempty"`
}

func newPlannedReport(a *command.App, r *pack.PlanReport, of int, start time.Time) PlannedReport {
	j := PlannedReport{r.Shards, of, r.Resumed, r.Entries, r.Records, r.Bytes, r.Bad, r.Missing, float64(time.Since(start).Milliseconds()) / 1e3, nil}
	if s := a.StoreStats(); s.Requests > 0 {
		j.Store = &s
	}
	if j.Bad == nil {
		j.Bad = map[string]int64{}
	}
	if j.Missing == nil {
		j.Missing = []int{}
	}
	return j
}

// badSamples describes bad samples by kind: "; 3 bad samples (2 image, 1
// missing)".
func badSamples(r *pack.PlanReport) string {
	if r.BadRecords() == 0 {
		return ""
	}
	var l []string
	for _, k := range slices.Sorted(maps.Keys(r.Bad)) {
		l = append(l, fmt.Sprintf("%d %s", r.Bad[k], k))
	}
	return fmt.Sprintf("; %s left out (%s)", command.Plural(int(r.BadRecords()), "bad sample"), strings.Join(l, ", "))
}

func packPlanned(a *command.App, cmd *cobra.Command, f *plannedFlags) (err error) {
	part, parts, err := parsePart(f.shard)
	switch {
	case err != nil:
		return err
	case f.jobs < 1:
		return command.UsageErr("--jobs %d: want at least 1", f.jobs)
	}
	if err := command.OneOf("bad", f.bad, "skip", "fail"); err != nil {
		return err
	}
	ctx := cmd.Context()
	start := time.Now()
	p, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, command.WrapFail(p.Close())) }()
	if err := f.foreign(p); err != nil {
		return err
	}
	from, to, err := p.Part(part, parts)
	if err != nil {
		return command.UsageErr("--shard %s: %w", f.shard, err)
	}
	var bar *command.Progress
	run := &pack.PlanPart{
		Plan: p, Out: f.out, Part: part, Parts: parts, Workers: f.jobs, Verify: f.verify, Force: f.force,
		Progress: func(done, total int64) {
			if bar == nil {
				bar = command.NewProgressOf(a.Stderr, total, "samples", f.quiet)
			}
			if a.OnItem != nil {
				a.OnItem()
			}
			bar.Add(done - bar.Done)
		},
	}
	clear := func() {
		if bar != nil {
			bar.Clear()
		}
	}
	if f.bad == "skip" {
		run.OnError = pack.SkipOnError
		run.OnBad = func(b *pack.BadRecord) {
			clear()
			a.Complain(b)
		}
	}
	defer collectLess(&p.Image)()
	r, err := run.Run(ctx)
	clear()
	if err := plannedErr(ctx, err); err != nil {
		if e, ok := errors.AsType[*command.ExitError](err); ok {
			e.Err = fmt.Errorf("%w (%d of %s done)", e.Err, r.Shards, command.Plural(to-from, "shard"))
		}
		return err
	}
	if f.json {
		return a.PrintLine(newPlannedReport(a, r, to-from, start))
	}
	if f.quiet {
		return nil
	}
	which := "no shard"
	if to-from == 1 {
		which = fmt.Sprintf("shard %d", from)
	} else if to > from {
		which = fmt.Sprintf("shards %d to %d", from, to-1)
	}
	before := ""
	if r.Resumed > 0 {
		before = fmt.Sprintf(" (%s packed before)", command.Plural(r.Resumed, "shard"))
	}
	took := time.Since(start).Seconds()
	_, err = fmt.Fprintf(a.Stderr, "%s of %d: %s, %s%s%s, %.1f s, %.0f samples/s\n",
		which, p.Shards, command.Plural(int(r.Records), "sample"), command.ByteSize(float64(r.Bytes)), before, badSamples(r), took, float64(r.Entries)/max(took, 1e-3))
	a.SayStore()
	return err
}

func packFinishCmd(a *command.App) *cobra.Command {
	f := &plannedFlags{}
	cmd := &cobra.Command{
		Use:                   "finish --plan PLAN.json -o OUT [flags]",
		Short:                 "Check the shards of a plan and write the index of all",
		DisableFlagsInUseLine: true,
		Args:                  command.NoArgs,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return packFinish(a, cmd, f) },
	}
	f.addPlan(cmd)
	cmd.Flags().BoolVar(&f.verify, "verify", true, "compare the checksums of all shards, not only their sizes")
	return cmd
}

// mostMissing is the largest number of missing shards that messages name.
const mostMissing = 20

func packFinish(a *command.App, cmd *cobra.Command, f *plannedFlags) (err error) {
	ctx := cmd.Context()
	start := time.Now()
	p, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, command.WrapFail(p.Close())) }()
	bar := command.NewProgressOf(a.Stderr, int64(p.Shards), "shards", f.quiet)
	r, err := p.Finish(ctx, f.out, pack.PlanFinish{Verify: f.verify, Progress: func(int) { bar.Step() }})
	bar.Clear()
	if f.json && (err == nil || errors.Is(err, pack.ErrIncomplete)) {
		err = errors.Join(a.PrintLine(newPlannedReport(a, r, p.Shards, start)), err)
	}
	if errors.Is(err, pack.ErrIncomplete) && len(r.Missing) == p.Shards {
		a.Complain(fmt.Errorf("no shard is there; to pack all: %s pack --plan %s -o %s", command.Program, command.ShellQuoted(paths.Shown(f.plan)), command.ShellQuoted(paths.Shown(f.out))))
	} else if errors.Is(err, pack.ErrIncomplete) {
		for i, s := range r.Missing[:min(len(r.Missing), mostMissing)] {
			a.Complain(fmt.Errorf("shard %d is missing: %s; to pack it: %s pack --plan %s --shard %d/%d -o %s", s, r.Why[i], command.Program, command.ShellQuoted(paths.Shown(f.plan)), s, p.Shards, command.ShellQuoted(paths.Shown(f.out))))
		}
		if n := len(r.Missing) - mostMissing; n > 0 {
			a.Complain(fmt.Errorf("%s more are missing; --json lists them", command.Plural(n, "shard")))
		}
	}
	if err := plannedErr(ctx, err); err != nil {
		return err
	}
	if f.json || f.quiet {
		return nil
	}
	_, err = fmt.Fprintf(a.Stderr, "%s: %s with %s, %s%s\n", paths.Shown(f.out), command.Plural(r.Shards, "shard"), command.Plural(int(r.Records), "sample"), command.ByteSize(float64(r.Bytes)), badSamples(r))
	a.SayStore()
	return err
}
