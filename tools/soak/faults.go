package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

// policies lists the policies for bad samples by their numbers.
var policies = []string{
	dataset.FailOnError: "FailOnError", dataset.SkipOnError: "SkipOnError", dataset.QuarantineOnError: "QuarantineOnError",
}

// faultBound is the time within which a process with faults ends.
const faultBound = 2 * time.Minute

// faultResult is what a child process prints: what became of the samples of the
// target, in the run whose fault comes at a fixed place.
type faultResult struct {
	Same, Other, Changed, Bad int
	Raced                     int // runs whose fault came at a random place and moment
}

// faults damages files while runs read them.
func faults(ctx context.Context, s *settings) (*section, error) {
	x := &section{Title: "File faults"}
	rounds := s.trials(10)
	x.textf("A run of 60 samples has read five when a file further on changes. Every kind ran on both engines with every policy, each in a "+
		"process of its own, and then %d times more with random targets and at random moments. Under FailOnError the error had to name the sample, and "+
		"after the file was restored the state had to resume at it. Under the other policies the bad samples had to be reported and all other "+
		"samples unchanged. No process may hang or crash, except where a mapped file is truncated, and no run may leave goroutines or files open. The columns of policies count the "+
		"samples of the target.", rounds)
	out := table{Head: []string{"fault", "expected", policies[0], policies[1], policies[2], "runs"}}
	for k := range faultKinds {
		f := &faultKinds[k]
		cells := []any{f.name, f.expect}
		runs := 0
		for policy := range policies {
			var seen []string
			for _, workers := range []int{0, 3} {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				text, n, err := s.fault(ctx, k, policy, workers, rounds)
				if err != nil {
					x.failf("%s, %s, %v: %v", f.name, policies[policy], engine{workers: workers}, err)
					text = "failed"
				}
				runs += n
				if !slices.Contains(seen, text) {
					seen = append(seen, text)
				}
			}
			cells = append(cells, strings.Join(seen, " or "))
		}
		out.add(append(cells, runs)...)
		progress("faults: %s", f.name)
	}
	x.Tables = append(x.Tables, out)
	return x, nil
}

// fault runs a child process and describes what happened.
func (s *settings) fault(ctx context.Context, kind, policy, workers, rounds int) (text string, runs int, err error) {
	ctx, cancel := context.WithTimeout(ctx, faultBound)
	defer cancel()
	c, err := s.command(ctx, "fault", fmt.Sprint(kind), fmt.Sprint(policy), fmt.Sprint(workers), fmt.Sprint(rounds))
	if err != nil {
		return "", 0, err
	}
	var out bytes.Buffer
	errs := &head{}
	c.Stdout, c.Stderr = &out, errs
	err = c.Run()
	f := &faultKinds[kind]
	if ctx.Err() == context.DeadlineExceeded {
		return "", 0, fmt.Errorf("the process did not end within %v\n%s", faultBound, errs)
	}
	if err != nil && f.fatal && strings.Contains(errs.String(), "signal SIGBUS") {
		return "the process dies: SIGBUS", 1, nil
	}
	if err != nil {
		return "", 0, fmt.Errorf("%w\n%s", err, errs)
	}
	var r faultResult
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return "", 0, err
	}
	for _, o := range []struct {
		n    int
		text string
	}{{r.Bad, "bad"}, {r.Other, "new"}, {r.Changed, "other pixels"}, {r.Same, "unchanged"}} {
		if o.n == 0 {
			continue
		}
		if policy == int(dataset.FailOnError) && o.text == "bad" {
			text = "error names it"
			break // the run ended there
		}
		text += fmt.Sprintf(", %d %s", o.n, o.text)
	}
	return strings.TrimPrefix(text, ", "), 1 + r.Raced, nil
}

// head is a writer that keeps the first 4 KiB: a crash names its signal there.
type head struct{ b []byte }

func (h *head) Write(p []byte) (int, error) {
	h.b = append(h.b, p[:min(len(p), 4096-len(h.b))]...)
	return len(p), nil
}

func (h *head) String() string { return strings.TrimSpace(string(h.b)) }

// scene is the data of a run with a fault.
type scene struct {
	dir   string
	c     *corpus
	f     *fault
	sub   subject
	store store.Opener
	keys  []string // of all rows
	want  []item
	row   int // whose file is the target
}

// faultChild runs one kind of fault under one policy on one engine.
func faultChild(ctx context.Context, s *settings, args []string) error {
	var n [4]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(args[i]); err != nil {
			return err
		}
	}
	kind, policy, workers, rounds := n[0], dataset.ErrorPolicy(n[1]), n[2], n[3]
	z := &scene{dir: s.Dir, f: &faultKinds[kind], store: store.Local}
	var err error
	if z.c, err = newCorpus(ctx, s, 60); err != nil {
		return err
	}
	switch z.f.source {
	case "images":
		z.sub.d = z.c.folder().Map(plain(32))
	case "RecordIO":
		z.sub.d = z.c.recordFile().Map(plain(32))
	case "tar":
		z.sub.d = z.c.tar().Map(plain(32))
	case "cache":
		z.sub.d = z.c.folder().Map(plain(32)).FileCache(cache(z), 1<<28)
	}
	if !z.f.mapped {
		z.store = unmapped{store.Local}
	}
	if z.want, err = whole(ctx, z.sub, dataset.Options{Store: z.store}, 0); err != nil {
		return err
	}
	for _, x := range z.want {
		z.keys = append(z.keys, x.key)
	}
	var r faultResult
	e := engine{workers: workers, prefetch: 2}
	z.row = 45 // no worker is there after five samples
	if err := z.run(ctx, &r, policy, e, nil); err != nil {
		return err
	}
	if z.f.source == "cache" {
		rounds = 0 // a sample may change between its check and its use; docs say "first use"
	}
	random := rand.New(rand.NewPCG(s.Seed, uint64(100+kind*10)+uint64(policy)))
	for range rounds {
		z.row = 1 + random.IntN(len(z.want)-1) // not the neighbour of class0
		if z.keys[z.row] == z.keys[len(z.want)/2] {
			z.row++ // nor that of class1
		}
		if err := z.run(ctx, nil, policy, e, random); err != nil {
			return fmt.Errorf("with the target %s: %w", z.keys[z.row], err)
		}
		r.Raced++
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// unmapped is a store whose files are read, not mapped.
type unmapped struct{ store.Opener }

func (u unmapped) Open(ctx context.Context, name string) (store.File, error) {
	f, err := u.Opener.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return struct{ store.File }{f}, nil
}

// run disturbs a run. With random numbers the fault comes at a random moment:
// then samples that were read before are unchanged, and a file that is replaced
// may be missing for a moment.
func (z *scene) run(ctx context.Context, r *faultResult, policy dataset.ErrorPolicy, e engine, random *rand.Rand) (err error) {
	target := z.f.target(z)
	saved, err := save(target)
	if err != nil {
		return err
	}
	before := used()
	end := func() error { return nil }
	defer func() {
		err = errors.Join(err, end(), saved.restore())
		if left := settled(before); left != (usage{}) {
			err = errors.Join(err, fmt.Errorf("%d goroutines and %d files are left\n%s", left.goroutines, left.files, stacks()))
		}
	}()
	var skipped []*dataset.SampleError
	o := dataset.Options{OnError: policy, Store: z.store, OnSkip: func(e *dataset.SampleError) { skipped = append(skipped, e) }}
	b, err := dataset.Build(ctx, z.sub.d, o)
	if err != nil {
		return err
	}
	p, err := e.start(b, nil)
	if err != nil {
		return errors.Join(err, b.Close())
	}
	end = func() error { return errors.Join(p.Close(), b.Close()) }
	may, first := z.f.may, 5
	applied := make(chan error, 1)
	if random != nil {
		may |= same
		if z.f.may != same {
			may |= bad
		}
		if z.f.mapped && z.f.may&bad != 0 {
			may |= changed // between the check of the bytes and their decoding
		}
		first = random.IntN(10)
	}
	got, err := read(ctx, p, first, false)
	if err != nil {
		return err
	}
	if random == nil {
		applied <- z.f.apply(target)
	} else {
		wait := time.Duration(random.IntN(8000)) * time.Microsecond
		go func() {
			time.Sleep(wait)
			applied <- z.f.apply(target)
		}()
	}
	l, ended := readAll(ctx, p, false)
	got = append(got, l...)
	if err := <-applied; errors.Is(err, errors.ErrUnsupported) && runtime.GOOS != "linux" {
		return nil // this system has no such files
	} else if err != nil {
		return fmt.Errorf("the fault itself: %w", err)
	}
	state := p.State()
	reported := map[string]error{}
	for _, e := range skipped {
		reported[e.Key] = e
	}
	if policy == dataset.QuarantineOnError && len(p.Quarantined()) != len(skipped) || int(p.Skipped()) != len(skipped) {
		return fmt.Errorf("%d skipped, %d quarantined, %d reported", p.Skipped(), len(p.Quarantined()), len(skipped))
	}
	if ended != nil {
		var sample *dataset.SampleError
		if policy != dataset.FailOnError || !errors.As(ended, &sample) {
			return fmt.Errorf("the run ended with %w", ended)
		}
		if sample.Key != z.keys[min(len(got), len(z.keys)-1)] || !strings.Contains(ended.Error(), filepath.Base(sample.Key)) {
			return fmt.Errorf("after %d samples the error does not name sample %q: %w", len(got), z.keys[min(len(got), len(z.keys)-1)], ended)
		}
		reported[sample.Key] = ended
	}
	tally, err := z.compare(got, ended != nil, target, may, reported)
	if err != nil {
		return err
	}
	if r != nil {
		*r = tally
		due := 0
		for _, x := range []struct {
			one outcome
			n   int
		}{{same, tally.Same}, {other, tally.Other}, {changed, tally.Changed}, {bad, tally.Bad}} {
			if z.f.must&x.one != 0 {
				due += x.n
			}
		}
		if due == 0 {
			return fmt.Errorf("of the target's samples, %d were bad, %d new, %d changed, %d unchanged", tally.Bad, tally.Other, tally.Changed, tally.Same)
		}
	}
	if err := end(); err != nil {
		return err
	}
	end = func() error { return nil }
	if err := saved.restore(); err != nil {
		return err
	}
	if ended == nil {
		return nil
	}
	return z.resume(ctx, e, o, state, len(got))
}

// compare checks the samples that a run returned. failed runs ended at the
// first sample that is missing.
func (z *scene) compare(got []item, failed bool, target string, may outcome, reported map[string]error) (r faultResult, err error) {
	victim := func(i int) bool {
		switch z.f.source {
		case "images":
			p := filepath.Join(z.c.photos, filepath.FromSlash(z.keys[i]))
			return p == target || filepath.Dir(p) == target
		case "tar":
			return strings.Contains(z.keys[i], filepath.Base(target)+"@")
		}
		return true
	}
	newDigest := uint64(0) // of the neighbour, with the target's label
	for i, key := range z.keys {
		if filepath.Join(z.c.photos, filepath.FromSlash(key)) == neighbour(target) {
			newDigest = z.want[i].digest
		}
	}
	for i, want := range z.want {
		one := outcome(0)
		switch {
		case len(got) > 0 && got[0].key == want.key:
			switch got[0].digest {
			case want.digest:
				one = same
			case newDigest:
				one = other
			default:
				one = changed
			}
			got = got[1:]
		case reported[want.key] != nil:
			one = bad
		case failed && len(reported) == 1 && len(got) == 0:
			return r, nil // behind the error
		default:
			return r, fmt.Errorf("sample %q is missing without a report", want.key)
		}
		if !victim(i) {
			if one != same {
				return r, fmt.Errorf("sample %q is %v, and the fault was in another file: %v", want.key, one, reported[want.key])
			}
			continue
		}
		if one&may == 0 {
			return r, fmt.Errorf("sample %q is %v, want %v: %v", want.key, one, may, reported[want.key])
		}
		switch one {
		case same:
			r.Same++
		case other:
			r.Other++
		case changed:
			r.Changed++
		case bad:
			r.Bad++
		}
		if failed && one == bad {
			return r, nil
		}
	}
	if len(got) > 0 {
		return r, fmt.Errorf("sample %q came twice, or is no sample", got[0].key)
	}
	return r, nil
}

// resume checks that the state of a failed run resumes at the bad sample.
func (z *scene) resume(ctx context.Context, e engine, o dataset.Options, state *dataset.State, after int) (err error) {
	b, err := dataset.Build(ctx, z.sub.d, o)
	if err != nil {
		return fmt.Errorf("after the file was restored: %w", err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	p, err := e.start(b, state)
	if err != nil {
		return fmt.Errorf("after the file was restored: %w", err)
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	l, err := readAll(ctx, p, false)
	if err != nil && err != io.EOF {
		return fmt.Errorf("after the file was restored: %w", err)
	}
	if d := differ(l, z.want[after:]); d != "" {
		return fmt.Errorf("resumed after %d samples: %s", after, d)
	}
	return nil
}

func (o outcome) String() string {
	var l []string
	for i, name := range []string{"unchanged", "new", "changed", "bad"} {
		if o&(1<<i) != 0 {
			l = append(l, name)
		}
	}
	return strings.Join(l, " or ")
}

// backup restores a file or a renamed folder.
type backup struct {
	path string
	b    []byte // nil for a folder
	time time.Time
}

func save(path string) (backup, error) {
	i, err := os.Stat(path)
	if err != nil || i.IsDir() {
		return backup{path: path}, err
	}
	b, err := os.ReadFile(path)
	return backup{path, b, i.ModTime()}, err
}

func (b backup) restore() error {
	if b.b == nil {
		if _, err := os.Stat(b.path); err == nil {
			return nil
		}
		return os.Rename(b.path+".away", b.path)
	}
	if err := os.RemoveAll(b.path); err != nil {
		return err
	}
	if err := os.WriteFile(b.path, b.b, 0o666); err != nil {
		return err
	}
	return os.Chtimes(b.path, b.time, b.time)
}
