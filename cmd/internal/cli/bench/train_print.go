package bench

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/pipeline"
)

// named replaces the type name of the source folder by a readable one.
func named(s string) string { return strings.ReplaceAll(s, fmt.Sprintf("%T", &folder{}), "folder") }

// stats returns the figures of the stages.
func (t *trainer) stats() []pipeline.StageStats {
	if t.pipe == nil {
		return nil
	}
	l := t.pipe.Stats()
	for i := range l {
		l[i].Path = named(l[i].Path)
	}
	return l
}

// StageFigures are the printed figures of a stage.
type StageFigures struct {
	pipeline.StageStats
	BusyPercent   float64 `json:"busy_percent"`
	WaitedPercent float64 `json:"waited_percent"`
}

// percentages returns the figures of the time elapsed since before.
func percentages(before, after []pipeline.StageStats, elapsed time.Duration) []StageFigures {
	l := make([]StageFigures, 0, len(after))
	for _, s := range after {
		busy, waited := s.Busy, s.Waited
		for _, o := range before {
			if o.Path == s.Path {
				busy, waited = busy-o.Busy, waited-o.Waited
			}
		}
		percent := func(x time.Duration, of float64) float64 {
			return command.Digits(max(0, min(100*float64(x)/max(of, 1), 100)))
		}
		l = append(l, StageFigures{s, percent(busy, float64(elapsed)*float64(s.Workers)), percent(waited, float64(elapsed))})
	}
	return l
}

// stageTable returns the table of the stages. A positive width cuts paths to so
// many characters.
func stageTable(stages []StageFigures, bottleneck, width int) *command.Table {
	t := &command.Table{}
	t.Row("stage", "workers", "ready", "in", "out", "busy %", "waited %", "MB", "errors", "")
	for i, s := range stages {
		mark := ""
		if i == bottleneck {
			mark = "<- bottleneck"
		}
		path := []rune(command.Printable(s.Path))
		if width > 0 && len(path) > width {
			path = append([]rune("…"), path[len(path)-width+1:]...)
		}
		mb := command.Digits(float64(s.Bytes) / 1e6)
		t.Row(string(path), strconv.Itoa(s.Workers), fmt.Sprintf("%d/%d", s.Ready, s.Queue), strconv.FormatInt(s.In, 10), strconv.FormatInt(s.Out, 10),
			strconv.FormatFloat(s.BusyPercent, 'f', 0, 64), strconv.FormatFloat(s.WaitedPercent, 'f', 0, 64), command.Short(&mb), strconv.FormatInt(s.Errors, 10), mark)
	}
	return t
}

// print prints the figures of the run.
func (t *trainer) print(elapsed, cpu time.Duration, stats []pipeline.StageStats, interrupted bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	seconds, images := elapsed.Seconds(), t.images.Load()
	bottleneck := pipeline.Bottleneck(nil, stats, elapsed)
	r := struct {
		ImagesPerS    float64        `json:"images_per_s"`
		Images        int64          `json:"images"`
		Batches       int64          `json:"batches"`
		Epochs        int64          `json:"epochs"`
		Seconds       float64        `json:"seconds"`
		FirstBatchS   float64        `json:"first_batch_s"`
		Bad           int64          `json:"bad"`
		PeakRSSMB     *float64       `json:"peak_rss_mb,omitempty"`
		CPUMSPerImage *float64       `json:"cpu_ms_per_image,omitempty"`
		Engine        string         `json:"engine"`
		Bottleneck    string         `json:"bottleneck"`
		Stages        []StageFigures `json:"stages"`
		Tuned         []string       `json:"tuned"`
		Maps          []mapPlaces    `json:"maps,omitempty"`
		Caches        []cacheFigures `json:"caches,omitempty"`
		Interrupted   bool           `json:"interrupted"`
	}{
		ImagesPerS: command.Digits(float64(images) / max(seconds, 1e-9)), Images: images, Batches: t.batches.Load(), Epochs: t.epochs.Load(),
		Seconds: command.Digits(seconds), FirstBatchS: command.Digits(t.first.Seconds()), Bad: t.run.Skipped(), Engine: t.f.engine,
		Stages: percentages(nil, stats, elapsed), Tuned: append([]string{}, t.tuned...), Maps: t.maps, Caches: caches(t.built), Interrupted: interrupted,
	}
	if bottleneck >= 0 {
		r.Bottleneck = stats[bottleneck].Path
	}
	if peak := peakRSS(); peak > 0 {
		mb := command.Digits(float64(peak) / 1e6)
		r.PeakRSSMB = &mb
	}
	if cpu > 0 && images > 0 {
		ms := command.Digits(cpu.Seconds() * 1e3 / float64(images))
		r.CPUMSPerImage = &ms
	}
	if t.f.json {
		return t.app.PrintLine(r)
	}
	for _, s := range r.Tuned {
		fmt.Fprintln(t.app.Stderr, command.Printable(s))
	}
	for _, m := range r.Maps {
		fmt.Fprintln(t.app.Stderr, command.Printable(m.String()))
	}
	if len(stats) > 0 {
		if err := stageTable(r.Stages, bottleneck, 0).Write(t.app.Stdout); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(t.app.Stdout); err != nil {
			return err
		}
	}
	if len(r.Caches) > 0 {
		var l command.Table
		l.Row("cache", "hits", "misses", "hit %", "samples", "MB")
		for _, c := range r.Caches {
			mb := command.Digits(float64(c.Bytes) / 1e6)
			l.Row(command.Printable(c.Path), strconv.FormatInt(c.Hits, 10), strconv.FormatInt(c.Misses, 10), command.Short(&c.HitPercent),
				strconv.FormatInt(c.Samples, 10), command.Short(&mb))
		}
		if err := l.Write(t.app.Stdout); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(t.app.Stdout); err != nil {
			return err
		}
	}
	var l command.Table
	l.Row("engine", "images", "batches", "epochs", "bad", "seconds", "first batch s", "images/s", "CPU ms/image", "peak MB")
	l.Row(r.Engine, strconv.FormatInt(images, 10), strconv.FormatInt(r.Batches, 10), strconv.FormatInt(r.Epochs, 10), strconv.FormatInt(r.Bad, 10),
		command.Short(&r.Seconds), command.Short(&r.FirstBatchS), command.Short(&r.ImagesPerS), command.Short(r.CPUMSPerImage), command.Short(r.PeakRSSMB))
	return l.Write(t.app.Stdout)
}

// live shows the table of the stages. stop clears it.
func (t *trainer) live() (stop func()) {
	if !t.table.Shown() {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(liveInterval)
		defer tick.Stop()
		before, images, at := []pipeline.StageStats(nil), int64(0), t.start
		for {
			select {
			case <-quit:
				t.table.Clear()
				return
			case <-tick.C:
			}
			now, stats, n := time.Now(), t.stats(), t.images.Load()
			elapsed := now.Sub(at)
			head := fmt.Sprintf("%.1f s  epoch %d  %d batches  %.0f images/s", now.Sub(t.start).Seconds(), t.epochs.Load(), t.batches.Load(),
				float64(n-images)/max(elapsed.Seconds(), 1e-9))
			t.table.Draw(head, func(width int) *command.Table {
				const others = 80 // width of the other columns
				return stageTable(percentages(before, stats, elapsed), pipeline.Bottleneck(before, stats, elapsed), max(width-others, 12))
			})
			before, images, at = stats, n, now
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}
