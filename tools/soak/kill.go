package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// victim is a program to kill.
type victim struct {
	name  string
	count string // what its runs make: "packs"
	// command returns the program, which writes into the folder out.
	command func(out string) (*exec.Cmd, error)
	// progressed reports whether a killed program left work that the next run
	// need not repeat.
	progressed func(out string) bool
	// done reports whether a killed program had finished its work.
	done func(out string) (bool, error)
	// check compares what a finished program left with an undisturbed run.
	check func(out string) error
}

type killTally struct {
	kills, progressed, after, runs, made int
	took                                 time.Duration
}

// kills kills packs and writers of a FileCache, and runs them again.
func kills(ctx context.Context, s *settings) (*section, error) {
	x := &section{Title: "Kills"}
	names, err := images(s.Images, 16<<10, ".jpg", ".png")
	if err != nil {
		return nil, err
	}
	photos := filepath.Join(s.Dir, "photos")
	// A RecordIO pack records its progress every 256 images.
	n := 9 * len(names)
	if err := fill(photos, s.Images, names, n, 3); err != nil {
		return nil, err
	}
	cache, err := newCacheVictim(ctx, s, photos)
	if err != nil {
		return nil, err
	}
	pack := func(name string, progressed func(string) bool, args ...string) (*victim, error) {
		return newPackVictim(ctx, s, name, progressed, func(out string) []string {
			l := []string{"pack"}
			for _, a := range args {
				l = append(l, strings.NewReplacer("OUT", out, "ROOT", photos).Replace(a))
			}
			return l
		})
	}
	recordio, err := pack("`infer-prep pack recordio`", recordIOProgress, "recordio", "--quiet", "--recursive", "--sums", "--encoding", ".png", "--resize", "48", "--jobs", "2", "OUT/p", "ROOT")
	if err != nil {
		return nil, err
	}
	shards, err := pack("`infer-prep pack shards`", shardsProgress, "shards", "--quiet", "--classes", "--shuffle", "--index", "--encoding", ".png", "--resize", "48", "--jobs", "2",
		"--samples-per-file", "100", "-o", "OUT", "ROOT")
	if err != nil {
		return nil, err
	}
	x.textf("Each program was killed (SIGKILL; TerminateProcess on Windows) at random moments of its work, one to four times, and then started again "+
		"until it finished. It read %s images. The files of a finished pack had to be byte for byte those of an undisturbed pack, with nothing "+
		"beside them. All samples of a cache were compared with those made without it after every finished run; half of the killed caches got "+
		"512 random bytes written over their middle before the next run.", thousands(int64(n)))
	out := table{Head: []string{"program", "undisturbed", "kills before the end", "with progress to resume from", "kills after the end", "runs", "finished", "equal"}}
	r := rand.New(rand.NewPCG(s.Seed, 4))
	for _, v := range []*victim{recordio, shards, cache} {
		most := s.trials(100)
		progress("kill: %s", v.name)
		t, err := v.kill(ctx, s, r, most)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		equal := fmt.Sprintf("%d of %d %s", t.made, t.made, v.count)
		if err != nil {
			x.failf("%s: after %d kills: %v", v.name, t.kills, err)
			equal = "failed"
		}
		if t.progressed == 0 && err == nil {
			x.failf("%s: no kill left progress to resume from", v.name)
		}
		out.add(v.name, t.took.Round(10*time.Millisecond), t.kills, t.progressed, t.after, t.runs, t.made, equal)
	}
	x.Tables = append(x.Tables, out)
	return x, nil
}

// newPackVictim packs once, undisturbed, for the expected files.
func newPackVictim(ctx context.Context, s *settings, name string, progressed func(string) bool, args func(out string) []string) (*victim, error) {
	command := func(out string) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, s.Binary, args(out)...), nil
	}
	root := filepath.Join(s.Dir, fmt.Sprint("want", folders.Add(1)))
	if err := os.Mkdir(root, 0o777); err != nil {
		return nil, err
	}
	c, err := command(root)
	if err != nil {
		return nil, err
	}
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, out)
	}
	want, err := contents(root)
	if err != nil {
		return nil, err
	}
	check := func(out string) error {
		got, err := contents(out)
		if err != nil {
			return err
		}
		for f, sum := range want {
			if g, ok := got[f]; !ok {
				return fmt.Errorf("%s is missing", f)
			} else if g != sum {
				return fmt.Errorf("%s differs", f)
			}
		}
		for f := range got {
			if _, ok := want[f]; !ok {
				return fmt.Errorf("%s is left over", f)
			}
		}
		return nil
	}
	done := func(out string) (bool, error) {
		got, err := contents(out)
		return maps.Equal(got, want), err
	}
	return &victim{name, "packs", command, progressed, done, check}, nil
}

// recordIOProgress reports whether the journal of a pack has a state behind its
// first line.
func recordIOProgress(out string) bool {
	b, err := os.ReadFile(filepath.Join(out, "p.rec.pack"))
	return err == nil && bytes.Count(b, []byte("\n")) > 1
}

// shardsProgress reports whether a shard is complete.
func shardsProgress(out string) bool {
	l, err := filepath.Glob(filepath.Join(out, "data-*.tar"))
	return err == nil && len(l) > 0
}

// contents returns the SHA-256 of every file below a folder.
func contents(root string) (map[string][32]byte, error) {
	m := map[string][32]byte{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		m[name] = sha256.Sum256(b)
		return err
	})
	return m, err
}

// kill kills the program n times.
func (v *victim) kill(ctx context.Context, s *settings, r *rand.Rand, n int) (t killTally, err error) {
	// The undisturbed run that calibrates the moments of the kills.
	out := filepath.Join(s.Dir, fmt.Sprint("out", folders.Add(1)))
	if err := os.Mkdir(out, 0o777); err != nil {
		return t, err
	}
	start := time.Now()
	if _, err := v.once(out, 0); err != nil {
		return t, err
	}
	t.took = time.Since(start)
	if err := errors.Join(v.check(out), os.RemoveAll(out)); err != nil {
		return t, err
	}
	// A resumed run has less to do, and the machine's speed varies: the moments
	// follow what the kills meet.
	limit := t.took
	for t.kills < n {
		if err := os.Mkdir(out, 0o777); err != nil {
			return t, err
		}
		for left := min(1+r.IntN(4), n-t.kills); ; left-- {
			if ctx.Err() != nil {
				return t, ctx.Err()
			}
			if t.runs++; t.runs > 20*n+20 {
				return t, fmt.Errorf("%d runs for %d kills before the end", t.runs, t.kills)
			}
			moment := time.Duration(0)
			if left > 0 {
				moment = 1 + time.Duration(r.Float64()*float64(limit))
			}
			killed, err := v.once(out, moment)
			if err != nil {
				return t, err
			}
			done := false
			if killed {
				t.kills++
				limit = min(t.took, limit+limit/20)
				if v.progressed(out) {
					t.progressed++
				}
				if done, err = v.done(out); err != nil {
					return t, err
				}
			} else {
				if left > 0 {
					t.after++
					limit -= limit / 5
				}
				done = true
			}
			if done {
				break
			}
		}
		t.made++
		if err := v.check(out); err != nil {
			return t, err
		}
		if err := os.RemoveAll(out); err != nil {
			return t, err
		}
		if t.made%10 == 0 {
			progress("kill: %s: %d kills", v.name, t.kills)
		}
	}
	return t, nil
}

// runBound is the time within which a program ends that nobody kills.
const runBound = 5 * time.Minute

// once runs the program and kills it after the given time, unless that is 0. It
// reports whether the kill ended it. A program that fails is an error.
func (v *victim) once(out string, after time.Duration) (killed bool, err error) {
	c, err := v.command(out)
	if err != nil {
		return false, err
	}
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	if err := c.Start(); err != nil {
		return false, err
	}
	bound := runBound
	if after > 0 {
		bound = after
	}
	timer := time.AfterFunc(bound, func() { _ = c.Process.Kill() })
	err = c.Wait()
	timer.Stop()
	switch ended := c.ProcessState; {
	case err == nil:
		return false, nil
	case after > 0 && (!ended.Exited() || runtime.GOOS == "windows"):
		return true, nil
	case !ended.Exited() && after == 0:
		return false, fmt.Errorf("it did not end within %v\n%s", runBound, &text)
	}
	return false, fmt.Errorf("%w\n%s", err, &text)
}
