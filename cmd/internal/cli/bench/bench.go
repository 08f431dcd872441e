// Package bench implements the commands bench, train-bench and feed.
package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/sorts"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
)

const (
	// benchTime is the longest time of bench: the warm-up is included, reading
	// the files is not.
	benchTime = 5 * time.Second
	// benchPass is the shortest time of a pass. A small folder is run several
	// times, so that the clocks' own cost does not count.
	benchPass = 100 * time.Millisecond
)

type benchFlags struct {
	source.GraphFlags
	outside command.Outside
	json    bool
	jobs    int
}

func Command(a *command.App) *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:                   "bench [--preset NAME | --graph FILE | --hf FILE | …] DIR...",
		Short:                 "Measure how fast a graph turns images into tensors",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return bench(a, cmd, f, args)
		},
	}
	f.Add(cmd)
	f.outside.Add(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.json, "json", false, "print the figures as one JSON object")
	fl.IntVarP(&f.jobs, "jobs", "j", 1, "process `N` images at once")
	return cmd
}

// RemoteReads is the number of files of a store that are read at once.
const RemoteReads = 32

// bencher measures one graph.
type bencher struct {
	app     *command.App
	plan    *datagraph.Plan
	pool    *datagraph.Pool
	limits  codec.Limits
	jobs    int
	noun    string // of an input: job.Noun
	images  []benchImage
	skipped int
	workers []*benchWorker
}

// benchImage is an image in memory.
type benchImage struct {
	in     *job.File
	data   []byte
	pixels int64 // set by the warm-up
	warm   bool
	err    error
}

// figures are the measurements of one pass.
type figures struct {
	wall, cpu time.Duration
	mallocs   uint64
	images    int
}

func bench(a *command.App, cmd *cobra.Command, f *benchFlags, args []string) error {
	switch {
	case len(args) == 0:
		return command.UsageErr("no images: want files, folders or globs")
	case f.jobs < 1:
		return command.UsageErr("--jobs %d: want at least 1", f.jobs)
	}
	g, err := f.Load(cmd, a.Stdin)
	if err != nil {
		return err
	}
	plan, err := f.Compile(g)
	if err == nil {
		err = source.WantOneImage(g)
	}
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	b := &bencher{app: a, plan: plan, limits: f.Limits, jobs: f.jobs, noun: job.Noun(g)}
	l := job.Find(ctx, f.outside.Files(), job.Paths(args...), "")
	defer l.Close()
	l.For(g)
	missing, err := b.read(ctx, l)
	if err != nil {
		return err
	}
	name := f.Preset
	if name == "" {
		name = paths.Shown(f.File)
	}
	if len(b.images) > 0 {
		if err := b.measure(ctx, name, f.json); err != nil {
			return err
		}
	} else {
		return command.NoImages(b.noun, missing, b.skipped)
	}
	if missing > 0 {
		return &command.ExitError{Status: command.ExitFailed}
	}
	return nil
}

var errBenchInterrupted = &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: nothing was measured")}

// read reads all files into memory and reports those that it cannot read. It
// returns the number of arguments that do not exist.
func (b *bencher) read(ctx context.Context, l *job.Listing) (missing int, err error) {
	total := int64(0)
	type file struct {
		data []byte
		why  string // why it is left out
	}
	o := ordered.Options{To: len(l.Files), Workers: 1}
	if slices.ContainsFunc(l.Files, func(in job.File) bool { return in.Remote() }) {
		o.Workers = RemoteReads
	}
	err = ordered.Run(ctx, o, func(ctx context.Context, _, i int) (f file, err error) {
		if in := &l.Files[i]; in.Err == nil {
			f.data, f.why, err = in.Read(ctx, b.limits)
		}
		return f, err
	}, func(i int, f file, err error) error {
		in := &l.Files[i]
		switch {
		case ctx.Err() != nil:
			return errBenchInterrupted
		case in.Err != nil:
			b.app.Complain(in.Err)
			missing++
			return nil
		case err != nil:
			b.app.Complain(err)
		}
		if f.why != "" || err != nil {
			b.skipped++
			return nil
		}
		total += int64(len(f.data))
		if limit := b.limits.Bytes; limit > 0 && total > limit {
			return command.FailErr("the %[1]ss have more than %[2]d bytes together, the --limit-bytes: want fewer %[1]ss or a higher limit", b.noun, limit)
		}
		b.images = append(b.images, benchImage{in: in, data: f.data})
		return nil
	})
	if ctx.Err() != nil {
		return 0, errBenchInterrupted
	}
	if err != nil {
		return 0, err
	}
	po := datagraph.PoolOptions{Jobs: b.jobs, Bytes: -1}
	if b.limits.Bytes > 0 {
		po.Bytes = max(1, b.limits.Bytes-total)
	}
	b.pool = b.plan.NewPool(po)
	return missing, nil
}

// measure warms up, runs the passes and prints the figures.
func (b *bencher) measure(ctx context.Context, graph string, asJSON bool) error {
	limit := benchTime
	if b.app.BenchTime > 0 {
		limit = b.app.BenchTime
	}
	for range b.jobs {
		w := &benchWorker{bench: b, passes: make(chan *pass)}
		b.workers = append(b.workers, w)
		go w.run()
	}
	defer func() {
		for _, w := range b.workers {
			close(w.passes)
		}
	}()

	start := time.Now()
	all := len(b.images)
	warm := b.pass(ctx, &pass{warm: true, times: 1, deadline: start.Add(limit / 2)})
	if ctx.Err() != nil {
		return errBenchInterrupted
	}
	tried := 0
	var good []benchImage
	for _, m := range b.images {
		switch {
		case !m.warm:
			continue
		case m.err != nil:
			b.app.Complain(m.err)
			b.skipped++
		default:
			good = append(good, m)
		}
		tried++
	}
	if b.images = good; len(good) == 0 {
		return command.NoImages(b.noun, 0, b.skipped)
	}
	if tried < all {
		b.app.Complain(fmt.Errorf("a pass over all %d %ss takes too long: measuring the first %d", all, b.noun, len(good)))
	}

	times := 1 + int(benchPass/max(warm.wall, time.Microsecond))
	var passes []figures
	for {
		p := &pass{times: times}
		passes = append(passes, b.pass(ctx, p))
		if ctx.Err() != nil {
			return errBenchInterrupted
		}
		if err := p.err.Load(); err != nil {
			return command.FailErr("%w", *err)
		}
		if time.Since(start)+passes[len(passes)-1].wall > limit {
			break
		}
	}
	sorts.Func(passes, func(p, q figures) int { return int(p.wall - q.wall) })
	return b.print(passes[len(passes)/2], len(passes), graph, asJSON)
}

func (b *bencher) print(p figures, passes int, graph string, asJSON bool) error {
	pixels, bytes := int64(0), int64(0)
	for _, m := range b.images {
		pixels += m.pixels
		bytes += int64(len(m.data))
	}
	n, seconds := float64(p.images), max(p.wall.Seconds(), 1e-9)
	times := n / float64(len(b.images))
	r := struct {
		ImagesPerS     float64  `json:"images_per_s"`
		MegapixelsPerS float64  `json:"megapixels_per_s"`
		MBPerS         float64  `json:"mb_per_s"`
		AllocsPerImage float64  `json:"allocs_per_image"`
		PeakRSSMB      *float64 `json:"peak_rss_mb,omitempty"`
		Skipped        int      `json:"skipped"`
		CPUMSPerImage  *float64 `json:"cpu_ms_per_image,omitempty"`
		Images         int      `json:"images"`
		Jobs           int      `json:"jobs"`
		Graph          string   `json:"graph"`
	}{
		ImagesPerS: command.Digits(n / seconds), MegapixelsPerS: command.Digits(float64(pixels) * times / 1e6 / seconds),
		MBPerS: command.Digits(float64(bytes) * times / 1e6 / seconds), AllocsPerImage: command.Digits(float64(p.mallocs) / n),
		Skipped: b.skipped, Images: len(b.images), Jobs: b.jobs, Graph: graph,
	}
	if peak := peakRSS(); peak > 0 {
		mb := command.Digits(float64(peak) / 1e6)
		r.PeakRSSMB = &mb
	}
	if p.cpu > 0 {
		ms := command.Digits(p.cpu.Seconds() * 1e3 / n)
		r.CPUMSPerImage = &ms
	}
	if asJSON {
		return b.app.PrintLine(r)
	}
	var t command.Table
	t.Row("graph", b.noun+"s", "skipped", "jobs", "passes", b.noun+"s/s", "megapixels/s", "MB/s", "CPU ms/"+b.noun, "allocations/"+b.noun, "peak MB")
	t.Row(command.Printable(graph), strconv.Itoa(r.Images), strconv.Itoa(r.Skipped), strconv.Itoa(r.Jobs), strconv.Itoa(passes),
		command.Short(&r.ImagesPerS), command.Short(&r.MegapixelsPerS), command.Short(&r.MBPerS), command.Short(r.CPUMSPerImage), command.Short(&r.AllocsPerImage), command.Short(r.PeakRSSMB))
	return t.Write(b.app.Stdout)
}

// pass is a run over all images, one or more times.
type pass struct {
	times    int
	warm     bool      // a warm-up: store the images' sizes and errors
	deadline time.Time // of a warm-up: later images are not begun
	ctx      context.Context
	next     atomic.Int64
	done     sync.WaitGroup
	err      atomic.Pointer[error] // an image failed that passed the warm-up
}

func (b *bencher) pass(ctx context.Context, p *pass) figures {
	p.ctx = ctx
	p.done.Add(len(b.workers))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	for _, w := range b.workers {
		w.passes <- p
	}
	p.done.Wait()
	f := figures{wall: time.Since(start), cpu: cpuTime() - cpu, images: p.times * len(b.images)}
	runtime.ReadMemStats(&after)
	f.mallocs = after.Mallocs - before.Mallocs
	return f
}

// benchWorker is a job: one goroutine.
type benchWorker struct {
	bench  *bencher
	image  tensor.Tensor
	passes chan *pass
}

func (w *benchWorker) run() {
	for p := range w.passes {
		w.pass(p)
		p.done.Done()
	}
}

func (w *benchWorker) pass(p *pass) {
	n := int64(len(w.bench.images))
	for p.ctx.Err() == nil && p.err.Load() == nil {
		i := p.next.Add(1) - 1
		if i >= n*int64(p.times) || p.warm && i > 0 && time.Now().After(p.deadline) {
			return
		}
		m := &w.bench.images[i%n]
		err := w.one(m, p.warm)
		switch {
		case p.warm:
			m.warm, m.err = true, err
		case err != nil:
			failed := err // a separate variable, so that only this case allocates
			p.err.Store(&failed)
		}
	}
}

func (w *benchWorker) one(m *benchImage, warm bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", m.in.Path, paths.Reason(err))
		}
	}()
	w.image = *tensor.FromBytes(m.data)
	if warm {
		if info, err := codec.DecodeConfig(m.data, &codec.Options{Limits: w.bench.limits}); err == nil {
			m.pixels = int64(info.Width) * int64(info.Height)
		}
	}
	err = w.bench.pool.Do(context.Background(), func(r *datagraph.Runner) error {
		_, err := r.Run(&w.image)
		return err
	})
	if err == nil && w.bench.app.OnItem != nil {
		w.bench.app.OnItem()
	}
	return err
}
