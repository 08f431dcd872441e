package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
)

// enduring lists the child processes of the endurance runs.
var enduring = []string{"pullpipe", "pipeline", "pipeline, AutoTune"}

// The limits of the growth from the second third of a run to its last third.
// The garbage collector lets the memory vary by some percent; a run on two
// cores has about 20 goroutines and a few open files at a time.
const (
	growShare = 0.10
	growBytes = 8 << 20
	growCount = 4
)

// judgedMinutes is the shortest run whose growth is judged: the heap needs some
// minutes to settle on a busy machine.
const judgedMinutes = 5

// endBound is the time that a run may take to start and to end. idleBound is
// the number of seconds without a batch after which a run counts as hanging: a
// batch takes a tenth of a second on an idle core.
const (
	endBound  = 5 * time.Minute
	idleBound = 60
)

// reading is what a child process measures once a second. -1 is unknown.
type reading struct {
	Second     int
	Images     int64
	Resident   int64 // bytes
	Heap       int64 // bytes that are live after a collection; every fifth second
	Goroutines int
	Files      int
}

// enduranceLine is a line that a child process prints.
type enduranceLine struct {
	Reading *reading
	Digest  *uint32 // of all batches of the epoch that ended
}

// enduranceDefinition returns the training of the endurance runs. An epoch has
// two passes over the folder.
func enduranceDefinition(folder string) *dataset.Dataset {
	x := imagefolder.New(folder)
	x.Extensions = append(x.Extensions, ".gif")
	return dataset.From(x).Shuffle().Repeat(2).Map(augment(224)).Batch(32)
}

// endurance runs both engines side by side.
func endurance(ctx context.Context, s *settings) *section {
	x := &section{Title: "Endurance"}
	names, err := images(s.Images, 1<<20, ".jpg", ".png", ".bmp", ".gif", ".tif", ".webp")
	folder := filepath.Join(s.Dir, "endurance-images")
	if err == nil {
		err = fill(folder, s.Images, names, 2*len(names), 4)
	}
	if err != nil {
		x.failf("the images: %v", err)
		return x
	}
	lines := make([][]enduranceLine, len(enduring))
	errs := make([]error, len(enduring))
	var group sync.WaitGroup
	for i, name := range enduring {
		group.Go(func() { lines[i], errs[i] = s.endure(ctx, name, folder) })
	}
	group.Wait()
	if ctx.Err() != nil {
		return x // interrupted: nobody reads it
	}
	x.textf("%s images of %s in a folder: JPEG, PNG, BMP, GIF, TIFF and WebP. The definition shuffles, repeats twice, decodes, "+
		"crops and resizes at random to 224 x 224, flips, normalises and makes batches of 32. The processes ran side by side "+
		"for %g minutes. \"Live heap\" is the heap after a forced collection.",
		thousands(int64(2*len(names))), mebibytes(size(folder)), s.Minutes)
	minutes := table{Head: []string{"engine", "minute", "images so far", "resident (median)", "live heap (median)", "goroutines (most)", "open files (most)"}}
	growth := table{
		Title: fmt.Sprintf("The runs fail if the median of the last third is above that of the second third by more than %.0f %% plus %s, "+
			"or if the largest number of goroutines or open files is above that of the second third by more than %d.",
			100*growShare, mebibytes(growBytes), growCount),
		Head: []string{"engine", "epochs", "resident, second and last third", "live heap", "goroutines", "open files"},
	}
	if s.Minutes < judgedMinutes {
		growth.Title += fmt.Sprintf(" This run did not fail for that: it took less than %d minutes.", judgedMinutes)
	}
	digests := map[int]uint32{}
	compared := 0
	for i, name := range enduring {
		if errs[i] != nil {
			x.failf("%s: %v", name, errs[i])
			continue
		}
		var l []reading
		epochs := 0
		for _, line := range lines[i] {
			if line.Reading != nil {
				l = append(l, *line.Reading)
				continue
			}
			if want, ok := digests[epochs]; !ok {
				digests[epochs] = *line.Digest
			} else if compared++; want != *line.Digest {
				x.failf("%s: epoch %d has digest %08x, that of another engine %08x", name, epochs, *line.Digest, want)
			}
			epochs++
		}
		if len(l) < 3 {
			x.failf("%s: %d readings, want 3 or more", name, len(l))
			continue
		}
		minutes.Rows = append(minutes.Rows, minuteRows(name, l)...)
		x.grow(&growth, name, epochs, l, s.Minutes >= judgedMinutes)
		x.idle(name, l)
	}
	x.Tables = append(x.Tables, minutes, growth)
	x.textf("The digests of all batches were equal in %s comparisons of whole epochs between the processes.", thousands(int64(compared)))
	return x
}

// endure runs a child process and returns its lines.
func (s *settings) endure(ctx context.Context, name, folder string) ([]enduranceLine, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s.Minutes*float64(time.Minute))+endBound)
	defer cancel()
	c, err := s.command(ctx, "endurance", name, folder)
	if err != nil {
		return nil, err
	}
	errs := &tail{}
	c.Stderr = errs
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	var l []enduranceLine
	var bad error
	for in := bufio.NewScanner(out); in.Scan(); {
		var line enduranceLine
		if bad = json.Unmarshal(in.Bytes(), &line); bad != nil {
			break
		}
		if r := line.Reading; r != nil && r.Second%60 == 0 {
			progress("endurance: %s: minute %d: %s images, %s resident, %d goroutines, %s files", name, r.Second/60,
				thousands(r.Images), mebibytes(r.Resident), r.Goroutines, count(r.Files))
		}
		l = append(l, line)
	}
	_, _ = io.Copy(io.Discard, out)
	if err := c.Wait(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, errs)
	}
	return l, bad
}

// enduranceChild runs an engine for the given minutes.
func enduranceChild(ctx context.Context, s *settings, args []string) (err error) {
	name, folder := args[0], args[1]
	b, err := dataset.Build(ctx, enduranceDefinition(folder), dataset.Options{Seed: s.Seed})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	var p run
	if name == "pullpipe" {
		p, err = pullpipe.New(b, nil)
	} else {
		p, err = pipeline.New(b, pipeline.Options{AutoTune: strings.HasSuffix(name, "AutoTune")}, nil)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()

	var mu sync.Mutex // for the standard output
	print := func(l enduranceLine) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(os.Stdout).Encode(l)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s.Minutes*float64(time.Minute)))
	defer cancel()
	var images atomic.Int64
	measured := make(chan struct{})
	go func() {
		defer close(measured)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for second := 1; ; second++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				r := measure(second)
				r.Images = images.Load()
				print(enduranceLine{Reading: &r})
			}
		}
	}()
	defer func() { <-measured }()
	sum := crc32.NewIEEE()
	for {
		x, err := p.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == io.EOF:
			d := sum.Sum32()
			print(enduranceLine{Digest: &d})
			sum.Reset()
			if err := p.NextEpoch(); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		for i := range x.Values {
			sum.Write(x.Values[i].Data)
		}
		images.Add(int64(x.Column("image").Shape.At(0)))
	}
}

// heapEvery is the number of seconds between two forced collections.
const heapEvery = 5

func measure(second int) reading {
	r := reading{Second: second, Resident: resident(), Heap: -1, Goroutines: runtime.NumGoroutine(), Files: openFiles()}
	if second%heapEvery == 0 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r.Heap = int64(m.HeapAlloc)
	}
	return r
}

// resident returns the process's resident memory, or -1 where the system does
// not say.
func resident() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return -1
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return -1
	}
	pages, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return -1
	}
	return pages * int64(os.Getpagesize())
}

// minuteRows returns a row for the first minute, the last one, and at most six
// between them.
func minuteRows(name string, l []reading) (rows [][]string) {
	last := (l[len(l)-1].Second + 59) / 60
	step := (last + 5) / 6
	for m := 1; m <= last; m++ {
		if m != 1 && m != last && m%step != 0 {
			continue
		}
		var of []reading
		for _, r := range l {
			if r.Second > (m-1)*60 && r.Second <= m*60 {
				of = append(of, r)
			}
		}
		if len(of) == 0 {
			continue
		}
		rows = append(rows, []string{
			name, fmt.Sprint(m), thousands(of[len(of)-1].Images), mebibytes(median(of, residentOf)), mebibytes(median(of, heapOf)),
			count(int(most(of, goroutinesOf))), count(int(most(of, filesOf))),
		})
	}
	return rows
}

// grow checks that the last third of a run does not need more than the second,
// if judge is set.
func (x *section) grow(t *table, name string, epochs int, l []reading, judge bool) {
	second, last := l[len(l)/3:2*len(l)/3], l[2*len(l)/3:]
	cells := []any{name, epochs}
	for _, c := range []struct {
		what string
		of   func(reading) int64
		max  bool
	}{{"resident memory", residentOf, false}, {"live heap", heapOf, false}, {"goroutines", goroutinesOf, true}, {"open files", filesOf, true}} {
		var a, b, limit int64
		show := mebibytes
		if c.max {
			a, b = most(second, c.of), most(last, c.of)
			limit = a + growCount
			show = func(n int64) string { return count(int(n)) }
		} else {
			a, b = median(second, c.of), median(last, c.of)
			limit = a + int64(growShare*float64(a)) + growBytes
		}
		cells = append(cells, show(a)+", "+show(b))
		if judge && a >= 0 && b > limit {
			x.failf("%s: %s grew from %s in the second third to %s in the last", name, c.what, show(a), show(b))
		}
	}
	t.add(cells...)
}

// idle checks that the images of a run never stop coming.
func (x *section) idle(name string, l []reading) {
	for i, since := 1, 0; i < len(l); i++ {
		if l[i].Images != l[since].Images {
			since = i
		} else if l[i].Second-l[since].Second > idleBound {
			x.failf("%s: no image from second %d to %d", name, l[since].Second, l[i].Second)
			return
		}
	}
}

func residentOf(r reading) int64   { return r.Resident }
func heapOf(r reading) int64       { return r.Heap }
func goroutinesOf(r reading) int64 { return int64(r.Goroutines) }
func filesOf(r reading) int64      { return int64(r.Files) }

// median returns the median of the known values, or -1.
func median(l []reading, of func(reading) int64) int64 {
	var known []int64
	for _, r := range l {
		if v := of(r); v >= 0 {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return -1
	}
	slices.Sort(known)
	return known[len(known)/2]
}

func most(l []reading, of func(reading) int64) int64 {
	n := int64(-1)
	for _, r := range l {
		n = max(n, of(r))
	}
	return n
}

func mebibytes(n int64) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

func count(n int) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// size returns the bytes of all files below a folder.
func size(folder string) (n int64) {
	_ = filepath.WalkDir(folder, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if i, err := d.Info(); err == nil && !d.IsDir() {
			n += i.Size()
		}
		return nil
	})
	return n
}
