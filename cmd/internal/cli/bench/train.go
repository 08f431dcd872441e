package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

type trainFlags struct {
	source.GraphFlags
	source.DeviceFlags
	outside   command.Outside
	folder    string
	train     bool
	batch     int
	shuffle   bool
	seed      uint64
	engine    string
	workers   int
	queues    []string
	prefetch  int
	bytes     command.Count
	cache     command.Count
	autotune  bool
	tunedFile string
	epochs    int
	seconds   float64
	onError   string
	trace     string
	json      bool
}

func TrainCommand(a *command.App) *cobra.Command {
	f := &trainFlags{}
	cmd := &cobra.Command{
		Use:                   "train-bench [DEFINITION | --folder DIR [--train | --preset NAME | --graph FILE | …]]",
		Short:                 "Run a training dataset and show which stage limits its speed",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return trainBench(a, cmd, f, args)
		},
	}
	f.GraphFlags.Add(cmd)
	f.DeviceFlags.Add(cmd)
	f.outside.Add(cmd)
	fl := cmd.Flags()
	fl.Lookup("least").Usage = "run only steps of at least this `CLASS` on the device: exact, within1 or approximate"
	fl.Lookup("least").DefValue = "exact"
	fl.StringVar(&f.folder, "folder", "", "run the images in `DIR` instead of a definition")
	fl.BoolVar(&f.train, "train", false, "with --folder, run the graph of ImageNet training")
	fl.IntVar(&f.batch, "batch", 32, "with --folder, batches of `N` images; 0 means no batches")
	fl.BoolVar(&f.shuffle, "shuffle", false, "with --folder, shuffle the images in each epoch")
	fl.Uint64Var(&f.seed, "seed", 0, "use the seed `N` for all random numbers")
	fl.StringVar(&f.engine, "engine", "parallel", "`ENGINE`: parallel, in stages with workers, or pull, one sample after another")
	fl.IntVarP(&f.workers, "workers", "w", 0, "`N` workers in each stage")
	fl.Lookup("workers").DefValue = "one for each CPU; with --autotune, initially 1"
	fl.StringArrayVar(&f.queues, "queue", nil, "hold `[STAGE=]N` samples in each stage, or in one that the table names; repeatable")
	fl.IntVar(&f.prefetch, "prefetch", 2, "prepare `N` batches ahead")
	f.bytes = 1 << 30
	fl.Var(&f.bytes, "bytes", "limit the samples in all queues to `BYTES` of memory")
	fl.Var(&f.cache, "cache", cacheUsage)
	fl.Lookup("cache").DefValue = noCache
	fl.BoolVar(&f.autotune, "autotune", false, "let the pipeline choose the workers and queues, and print its choices")
	fl.StringVar(&f.tunedFile, "autotune-file", "", "start with the workers and queues in `FILE`; with --autotune, write them there")
	fl.IntVar(&f.epochs, "epochs", 0, "run `N` passes over the dataset")
	fl.Lookup("epochs").DefValue = "1; with --seconds, as many as fit"
	fl.Float64Var(&f.seconds, "seconds", 0, "stop after `N` seconds")
	fl.Lookup("seconds").DefValue = "no limit"
	fl.StringVar(&f.onError, "on-error", "fail", "`WHAT` to do with a sample that fails: fail, skip it, or replace it by another; skip and replace report it")
	fl.StringVar(&f.trace, "trace", "", "write a trace of all workers to `FILE`")
	fl.BoolVar(&f.json, "json", false, "print the figures as one JSON object")
	command.Complete(cmd, "engine", "parallel", "pull")
	command.Complete(cmd, "on-error", slices.Sorted(maps.Keys(onErrors))...)
	command.Must(cmd.MarkFlagDirname("folder"))
	command.Must(cmd.MarkFlagFilename("autotune-file", "json"))
	return cmd
}

// The flag --cache.
const (
	cacheUsage = "keep samples in up to `BYTES` of memory: where no random op changes them, as files or transformed"
	noCache    = "none"
)

// onErrors are the values of --on-error.
var onErrors = map[string]dataset.ErrorPolicy{
	"fail": dataset.FailOnError, "skip": dataset.SkipOnError, "replace": dataset.ReplaceOnError,
}

// check refuses flags that are invalid or conflict.
func (f *trainFlags) check(cmd *cobra.Command, args []string) error {
	given := func(names ...string) string { return command.FirstChanged(cmd, names...) }
	graphs := []string{"preset", "graph", "dtype", "layout", "exif"}
	for _, i := range importer.All() {
		graphs = append(graphs, i.Name)
	}
	of := append([]string{"train", "batch", "shuffle"}, graphs...)
	pool := given("workers", "queue", "prefetch", "bytes", "autotune", "autotune-file", "trace")
	switch {
	case len(args) > 1:
		return command.UsageErr("got %d definitions, want one", len(args))
	case len(args) == 1 && f.folder != "":
		return command.UsageErr("a definition and --folder: want only one of them")
	case len(args) == 0 && f.folder == "":
		return command.UsageErr("no dataset: want a definition or --folder DIR")
	case len(args) == 1 && given(of...) != "":
		return command.UsageErr("--%s needs --folder: a definition already contains it", given(of...))
	case f.train && given(graphs...) != "":
		return command.UsageErr("--train and --%s: want only one of them", given(graphs...))
	case f.engine != "parallel" && f.engine != "pull":
		return command.OneOf("engine", f.engine, "parallel", "pull")
	case f.engine == "pull" && pool != "":
		return command.UsageErr("--%s needs --engine parallel", pool)
	case onErrors[f.onError] == dataset.FailOnError && f.onError != "fail":
		return command.OneOf("on-error", f.onError, slices.Sorted(maps.Keys(onErrors))...)
	case f.batch < 0:
		return command.UsageErr("--batch %d: want at least 0", f.batch)
	case f.workers < 0 || f.workers == 0 && given("workers") != "":
		return command.UsageErr("--workers %d: want at least 1", f.workers)
	case f.tunedFile == "-" || given("autotune-file") != "" && f.tunedFile == "":
		return command.UsageErr("--autotune-file %q: want a file", f.tunedFile)
	case f.prefetch < 0:
		return command.UsageErr("--prefetch %d: want at least 0", f.prefetch)
	case f.bytes < 1:
		return command.UsageErr("--bytes %d: want at least 1", f.bytes)
	case f.cache < 1 && given("cache") != "":
		return command.UsageErr("--cache %d: want at least 1", f.cache)
	case f.epochs < 0 || f.epochs == 0 && given("epochs") != "":
		return command.UsageErr("--epochs %d: want at least 1", f.epochs)
	case !(f.seconds >= 0) || f.seconds > 1e6 || f.seconds == 0 && given("seconds") != "":
		return command.UsageErr("--seconds %v: want more than 0 and at most 1000000", f.seconds)
	}
	return nil
}

// definition returns the dataset of the argument or of --folder.
func (f *trainFlags) definition(cmd *cobra.Command, stdin io.Reader, args []string) (*dataset.Dataset, error) {
	if len(args) == 1 {
		if paths.FolderExists(cmd.Context(), args[0]) {
			return nil, command.UsageErr("%s: is a folder, want a definition; for a folder of images use --folder", args[0])
		}
		return source.ReadDefinition(cmd.Context(), args[0], stdin)
	}
	g := trainGraph()
	if !f.train {
		var err error
		if g, err = f.Load(cmd, stdin); err != nil {
			return nil, err
		}
		if err := source.WantOneImage(g); err != nil {
			return nil, err
		}
	}
	source, err := folderSource(cmd.Context(), f.outside.Files(), f.folder)
	if err != nil {
		return nil, err
	}
	d := dataset.From(source)
	if f.shuffle {
		d = d.Shuffle()
	}
	d = d.MapColumns(g, []string{"image"}, nil)
	if f.batch > 0 {
		d = d.Batch(f.batch)
	}
	return d, nil
}

// trainGraph returns the graph of torchvision's ImageNet training, without the
// random ops that only some models use.
func trainGraph() *datagraph.Graph {
	const size = 224
	return datagraph.New(transforms.NewDecode(), transforms.NewRandomResizedCrop(size, size), transforms.NewRandomHorizontalFlip(),
		transforms.NewToTensor(), transforms.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
}

// folderSource returns the source of a folder, with classes if it has
// subfolders.
func folderSource(ctx context.Context, files store.Opener, dir string) (_ dataset.Source, err error) {
	dir = paths.TrimFile(dir)
	entries, err := store.ListNames(ctx, files, paths.StoreName(dir))
	if err != nil {
		return nil, command.FailErr("%w", paths.Error(dir, err))
	}
	if slices.ContainsFunc(entries, func(e store.Entry) bool { return e.Folder }) {
		return imagefolder.New(paths.StoreName(dir)), nil
	}
	l := job.Find(ctx, files, job.Paths(dir), "")
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	s := &folder{Dir: dir, listing: l}
	for i := range l.Files {
		in := &l.Files[i]
		if in.Err != nil {
			return nil, command.FailErr("%w", in.Err)
		}
		if in.IsImage(ctx) {
			s.inputs = append(s.inputs, in)
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: nothing was done")}
	case len(s.inputs) == 0:
		return nil, command.NoImages("image", 0, len(l.Files))
	}
	return s, nil
}

var imageColumn = []dataset.Column{{Name: "image", Desc: tensor.Encoded()}}

// folder is a source of images without classes.
type folder struct {
	Dir     string // for the fingerprint of a definition
	listing *job.Listing
	inputs  []*job.File
}

func (d *folder) Validate() error                                          { return nil }
func (d *folder) Open(context.Context, store.Opener) (dataset.Data, error) { return d, nil }
func (d *folder) Columns() []dataset.Column                                { return imageColumn }
func (d *folder) Len() int64                                               { return int64(len(d.inputs)) }
func (d *folder) Close() error                                             { d.listing.Close(); return nil }

func (d *folder) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	s.Key = d.inputs[i].Name
	f, err := d.inputs[i].Open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = store.ReadAll(f, s.Column("image").Bytes(int(f.Size())))
	return err
}

// trainErr shortens the error of a sample to its key, stage and cause.
func trainErr(err error) error {
	var e *dataset.SampleError
	if !errors.As(err, &e) {
		return err
	}
	err = fmt.Errorf("%s: %s: %w", e.Key, named(e.Path), paths.Reason(e.Err))
	if e.Replacement != "" {
		err = fmt.Errorf("%w; replaced by %s", err, e.Replacement)
	}
	return err
}

// trainRun is a run of either engine.
type trainRun interface {
	Next(context.Context) (*dataset.Sample, error)
	NextEpoch() error
	Skipped() int64
	Close() error
}

// trainer runs a dataset and measures it.
type trainer struct {
	app     *command.App
	f       *trainFlags
	built   *dataset.Built
	run     trainRun
	pipe    *pipeline.Pipeline // nil with --engine pull
	batched bool               // samples are batches
	table   *command.LiveTable

	start           time.Time
	first           time.Duration // until the first batch
	images, batches atomic.Int64
	epochs          atomic.Int64 // finished ones

	maps []mapPlaces // with a device

	mu    sync.Mutex
	tuned []string
}

// mapPlaces says where the steps of a map run.
type mapPlaces struct {
	Path  string           `json:"path"`
	Steps device.Placement `json:"steps"`
}

func placed(b *dataset.Built) (l []mapPlaces) {
	for _, s := range b.Steps() {
		if s.Placement != nil {
			l = append(l, mapPlaces{named(s.Path), s.Placement})
		}
	}
	return l
}

// cacheFigures are those of a cache.
type cacheFigures struct {
	Path string `json:"path"`
	dataset.CacheStats
	HitPercent float64 `json:"hit_percent"`
}

func caches(b *dataset.Built) (l []cacheFigures) {
	for _, s := range b.Steps() {
		if c := s.Cache; c != nil {
			percent := 100 * float64(c.Hits) / float64(max(c.Hits+c.Misses, 1))
			l = append(l, cacheFigures{named(s.Path), *c, command.Digits(percent)})
		}
	}
	return l
}

// String returns such as "map: on webgpu: to_tensor, normalize; on cpu:
// decode".
func (m mapPlaces) String() string {
	var where []string
	ops := map[string][]string{}
	for _, p := range slices.Backward(m.Steps) {
		if ops[p.Where] == nil {
			where = append(where, p.Where)
		}
		ops[p.Where] = append([]string{p.Op}, ops[p.Where]...)
	}
	s := m.Path + ":"
	for i, w := range where {
		if i > 0 {
			s += ";"
		}
		s += " on " + w + ": " + strings.Join(ops[w], ", ")
	}
	return s
}

func trainBench(a *command.App, cmd *cobra.Command, f *trainFlags, args []string) (err error) {
	if f.Device == "help" {
		return source.ListDevices(a)
	}
	if err := f.check(cmd, args); err != nil {
		return err
	}
	d, err := f.definition(cmd, a.Stdin, args)
	if err != nil {
		return err
	}
	t := &trainer{app: a, f: f, batched: d.GivesBatches(), table: a.LiveTable(f.json)}
	o := dataset.Options{Seed: f.seed, Limits: f.Limits, Store: f.outside.Files(), CacheBytes: int64(f.cache)}
	o.OnWarning = func(err error) { t.table.Above(func() { a.Complain(err) }) }
	if o.OnError = onErrors[f.onError]; o.OnError != dataset.FailOnError {
		o.OnSkip = func(e *dataset.SampleError) { t.table.Above(func() { a.Complain(trainErr(e)) }) }
	}
	if f.Least != "" {
		if o.DeviceLeast, err = f.Class(""); err != nil {
			return err
		}
	}
	if f.Device != cpu.Name {
		if o.Device, err = source.OpenDevice(f.Device); err != nil {
			return err
		}
		defer func() { // after built.Close
			if e := o.Device.Close(); e != nil && err == nil {
				err = command.FailErr("%w", e)
			}
		}()
	}
	built, err := dataset.Build(cmd.Context(), d, o)
	if err := command.Interrupted(cmd.Context(), "nothing was done"); err != nil && built == nil {
		return err
	}
	if err != nil {
		return source.WrongDefinition(err)
	}
	defer func() {
		if e := built.Close(); e != nil && err == nil {
			err = command.FailErr("%w", e)
		}
	}()
	t.built = built
	if o.Device != nil {
		t.maps = placed(built)
	}
	if f.trace == "" {
		return t.measure(cmd.Context(), built, nil)
	}
	var ran error // of the run; the trace is written even if it fails
	wrote := newfile.Write(cmd.Context(), f.trace, func(w io.Writer) error {
		trace := pipeline.NewTrace(w)
		ran = t.measure(cmd.Context(), built, trace)
		return trace.Close()
	})
	if wrote != nil && ran == nil {
		return command.FailErr("%w", wrote)
	}
	return ran
}

// open starts the run.
func (t *trainer) open(ctx context.Context, b *dataset.Built, trace *pipeline.Trace) (err error) {
	f := t.f
	if f.engine == "pull" {
		t.run, err = pullpipe.New(b, nil)
		return err
	}
	o := pipeline.Options{Workers: f.workers, Bytes: int64(f.bytes), Prefetch: f.prefetch, AutoTune: f.autotune, Trace: trace}
	if o.Prefetch == 0 {
		o.Prefetch = -1
	}
	if err := f.stageQueues(b, &o); err != nil {
		return err
	}
	if f.tunedFile != "" {
		if o.Tuned, err = f.readTuned(ctx); err != nil {
			return err
		}
	}
	o.Log = func(s string) {
		t.mu.Lock()
		t.tuned = append(t.tuned, named(s))
		t.mu.Unlock()
	}
	t.pipe, err = pipeline.New(b, o, nil)
	if errors.Is(err, pipeline.ErrTuning) {
		return fmt.Errorf("--autotune-file %s: %w", f.tunedFile, err)
	}
	t.run = t.pipe
	return err
}

// stageQueues sets the queues of --queue.
func (f *trainFlags) stageQueues(b *dataset.Built, o *pipeline.Options) error {
	for _, s := range f.queues {
		path, number, one := "", s, false
		if i := strings.LastIndex(s, "="); i >= 0 {
			path, number, one = s[:i], s[i+1:], true
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return fmt.Errorf("--queue %q: want [STAGE=]N, with N of 1 or more", s)
		}
		if !one {
			o.Queue = n
			continue
		}
		var paths []string
		at := ""
		for _, x := range b.Steps() {
			if !x.Stage {
				continue
			}
			paths = append(paths, named(x.Path))
			if named(x.Path) == path {
				at = x.Path
			}
		}
		if at == "" {
			return fmt.Errorf("--queue %q: no stage %q: want one of %s%s", s, path, strings.Join(paths, ", "), registry.DidYouMean(path, paths))
		}
		if o.StageQueue == nil {
			o.StageQueue = map[string]int{}
		}
		o.StageQueue[at] = n
	}
	return nil
}

// readTuned reads --autotune-file. With --autotune it may be missing.
func (f *trainFlags) readTuned(ctx context.Context) (*pipeline.Tuning, error) {
	b, err := source.ReadUTF8(ctx, f.tunedFile, nil)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.autotune:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("--autotune-file %w", err)
	}
	t := &pipeline.Tuning{}
	if err := json.Unmarshal(b, t); err != nil {
		return nil, fmt.Errorf("--autotune-file %s: %w", f.tunedFile, err)
	}
	return t, nil
}

// writeTuned writes --autotune-file.
func (t *trainer) writeTuned(ctx context.Context) error {
	tuning := t.pipe.Tuning()
	if len(tuning.Stages) == 0 {
		return nil // nothing ran
	}
	return newfile.Write(ctx, t.f.tunedFile, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(tuning)
	})
}

// measure runs the dataset and prints the figures.
func (t *trainer) measure(ctx context.Context, b *dataset.Built, trace *pipeline.Trace) error {
	if err := t.open(ctx, b, trace); err != nil {
		return command.UsageErr("%w", err)
	}
	cpu := cpuTime()
	t.start = time.Now()
	stop := t.live()
	err := t.loop(ctx)
	stop()
	elapsed, stages := time.Since(t.start), t.stats()
	cpu = cpuTime() - cpu
	if e := t.run.Close(); e != nil && err == nil {
		err = e
	}
	interrupted := ctx.Err() != nil && errors.Is(err, ctx.Err())
	switch {
	case err != nil && !interrupted:
		return command.FailErr("%w", trainErr(err))
	case t.batches.Load() == 0 && !interrupted:
		return command.FailErr("the dataset has no samples")
	}
	if err := t.print(elapsed, cpu, stages, interrupted); err != nil {
		return err
	}
	if t.f.autotune && t.f.tunedFile != "" {
		if err := t.writeTuned(context.WithoutCancel(ctx)); err != nil { // also of an interrupted run
			return command.FailErr("--autotune-file %w", err)
		}
	}
	switch {
	case interrupted:
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted")}
	case t.run.Skipped() > 0:
		return &command.ExitError{Status: command.ExitFailed}
	}
	return nil
}

// loop reads batches until the epochs or the time are over.
func (t *trainer) loop(ctx context.Context) error {
	f, timed := t.f, ctx
	if f.seconds > 0 {
		var cancel context.CancelFunc
		timed, cancel = context.WithDeadline(ctx, t.start.Add(time.Duration(f.seconds*float64(time.Second))))
		defer cancel()
	}
	epochs := int64(f.epochs)
	if epochs == 0 && f.seconds == 0 {
		epochs = 1
	}
	for {
		within := timed
		if t.batches.Load() == 0 {
			within = ctx // wait for the first batch: without it there are no figures
		}
		s, err := t.run.Next(within)
		switch {
		case err == io.EOF:
			if n := t.epochs.Add(1); n == epochs || t.batches.Load() == 0 {
				return nil
			}
			if err := t.run.NextEpoch(); err != nil {
				return err
			}
			continue
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil && timed.Err() != nil && errors.Is(err, timed.Err()):
			return nil // time is up
		case err != nil:
			return err
		}
		if t.first == 0 {
			t.first = time.Since(t.start)
		}
		n := int64(1)
		if t.batched && len(s.Values) > 0 {
			n = int64(s.Column("image").Shape.At(0))
		}
		t.images.Add(n)
		t.batches.Add(1)
		if t.app.OnItem != nil {
			t.app.OnItem()
		}
	}
}

// liveInterval is the time between two updates of the live table.
const liveInterval = 500 * time.Millisecond
