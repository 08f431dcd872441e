//go:build unix

// Command bigfolder runs the program over a big folder, interrupts it at
// random, and checks that what it goes on with is complete.
//
//	go run ./tools/bigfolder [-count N] [-stops N] [-seed N] [-dir DIR]
//
// It makes count JPEG files and runs "infer-prep run" over them: once to the
// end, and once stopped at random by SIGINT and SIGKILL in turn. Each SIGINT
// must print the command that goes on. At the end both output folders must hold
// the same files, bytes included. Then it times runs over the finished folders,
// by name and by content. It prints its figures and exits with 1 if an
// expectation failed.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// share is the largest share of a run's time that a run over the finished
// folder may take, if names decide.
const share = 0.02

func main() {
	s := &settings{}
	flag.IntVar(&s.count, "count", 100_000, "number of images")
	flag.IntVar(&s.stops, "stops", 10, "number of interruptions")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of the moments of the interruptions")
	flag.StringVar(&s.dir, "dir", os.TempDir(), "folder for the files, which are removed at the end")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := s.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bigfolder:", err)
		os.Exit(1)
	}
}

type settings struct {
	count, stops int
	seed         uint64
	dir, binary  string
}

func (s *settings) run(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp(s.dir, "bigfolder"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	s.binary = filepath.Join(s.dir, "infer-prep")
	if b, err := exec.CommandContext(ctx, "go", "build", "-o", s.binary, "./cmd/infer-prep").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, b)
	}
	if err := s.makeImages(ctx); err != nil {
		return err
	}
	// Small tensors, so that 100,000 of them fit on a disk twice.
	if err := os.WriteFile(filepath.Join(s.dir, "timm.json"), []byte(`{"input_size": [3, 64, 64], "interpolation": "bicubic"}`), 0o666); err != nil {
		return err
	}
	whole, _, err := s.finish(ctx, s.args("whole", ""))
	if err != nil {
		return err
	}
	fmt.Printf("%d images, without an interruption: %.1f s\n", s.count, whole.Seconds())
	for _, how := range []string{"name", "content"} {
		if err := s.interrupt(ctx, how, whole); err != nil {
			return fmt.Errorf("--skip-existing=%s: %w", how, err)
		}
	}
	return nil
}

// args returns the arguments of a run into the folder out.
func (s *settings) args(out, how string) []string {
	l := []string{"run", "--timm", filepath.Join(s.dir, "timm.json"), "--dtype", "uint8", "-o", filepath.Join(s.dir, out)}
	if how != "" {
		l = append(l, "--skip-existing="+how)
	}
	return append(l, filepath.Join(s.dir, "images"))
}

// finish runs the program to the end.
func (s *settings) finish(ctx context.Context, args []string) (time.Duration, string, error) {
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, s.binary, args...)
	c.Stderr = &stderr
	start := time.Now()
	err := c.Run()
	took := time.Since(start)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return took, stderr.String(), err
}

var goOn = regexp.MustCompile(`interrupted: (?:\d+ of \d+ files|nothing was) done; to go on: infer-prep (.*)\n`)

// interrupt stops runs at random, goes on with them to the end, and compares
// the outputs with those of the run without an interruption.
func (s *settings) interrupt(ctx context.Context, how string, whole time.Duration) error {
	out := "stopped-" + how
	args := s.args(out, how)
	random := rand.New(rand.NewPCG(s.seed, 1))
	told := 0 // commands that go on
	for i := range s.stops {
		sig := []os.Signal{syscall.SIGINT, syscall.SIGKILL}[i%2]
		var stderr bytes.Buffer
		c := exec.CommandContext(ctx, s.binary, args...)
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			return err
		}
		time.Sleep(time.Duration(random.Float64() * float64(whole) * 1.2 / float64(s.stops)))
		_ = c.Process.Signal(sig)
		_ = c.Wait()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.ProcessState.Success() {
			fmt.Printf("the run was at its end before stop %d\n", i+1)
			break
		}
		if sig == syscall.SIGKILL {
			continue
		}
		if code := c.ProcessState.ExitCode(); code != 130 && c.ProcessState.Exited() {
			return fmt.Errorf("status %d after SIGINT: %s", code, stderr.String())
		}
		m := goOn.FindStringSubmatch(stderr.String())
		if m == nil && stderr.Len() == 0 { // before the program received signals
			continue
		}
		if m == nil || m[1] != strings.Join(args, " ") {
			return fmt.Errorf("to go on it prints %q, want %q", stderr.String(), strings.Join(args, " "))
		}
		told++
	}
	if told == 0 {
		return errors.New("no run was interrupted by SIGINT")
	}
	_, text, err := s.finish(ctx, args)
	if err != nil {
		return err
	}
	fmt.Printf("--skip-existing=%s, stopped %d times, the last run: %s", how, s.stops, text)
	if err := s.compare("whole", out); err != nil {
		return err
	}
	again, text, err := s.finish(ctx, args)
	if err != nil {
		return err
	}
	part := again.Seconds() / whole.Seconds()
	fmt.Printf("  equal to the run without an interruption; once more: %.2f s, %.2f %% of the first run: %s", again.Seconds(), 100*part, text)
	if how == "name" && part > share && s.count >= 10_000 {
		return fmt.Errorf("the run over the finished folder took %.2f %% of the first, want at most %g %%", 100*part, 100*share)
	}
	return os.RemoveAll(filepath.Join(s.dir, out))
}

// compare compares two output folders. The manifest may be in one of them.
func (s *settings) compare(a, b string) error {
	count := 0
	err := filepath.WalkDir(filepath.Join(s.dir, b), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".infer-prep-manifest" {
			return err
		}
		count++
		rel, err := filepath.Rel(filepath.Join(s.dir, b), path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(filepath.Join(s.dir, a, rel))
		if err != nil {
			return err
		}
		got, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(got, want) {
			err = fmt.Errorf("%s differs", rel)
		}
		return err
	})
	if err == nil && count != s.count {
		err = fmt.Errorf("%d outputs, want %d", count, s.count)
	}
	return err
}

// makeImages makes files in 100 folders. There are 500 images; a comment makes
// each file different.
func (s *settings) makeImages(ctx context.Context) error {
	var bases [][]byte
	for i := range min(s.count, 500) {
		r := rand.New(rand.NewPCG(s.seed, uint64(i)+2))
		a, b, c := r.Float64(), r.Float64(), r.Uint32()
		m := image.NewNRGBA(image.Rect(0, 0, 320+r.IntN(200), 240+r.IntN(160)))
		for y := range m.Rect.Dy() {
			for x := range m.Rect.Dx() {
				v := uint32(float64(x)*a+float64(y)*b)*3 ^ c&31
				m.SetNRGBA(x, y, color.NRGBA{uint8(v), uint8(v >> 1), uint8(x ^ y), 255})
			}
		}
		var buf bytes.Buffer
		if err := jpeg.Encode(&buf, m, &jpeg.Options{Quality: 85}); err != nil {
			return err
		}
		bases = append(bases, buf.Bytes())
	}
	for i := range s.count {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		dir := filepath.Join(s.dir, "images", fmt.Sprintf("%02d", i%100))
		if i < 100 {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return err
			}
		}
		base := bases[i%len(bases)]
		b := append([]byte{0xff, 0xd8, 0xff, 0xfe, 0, 10}, binary.BigEndian.AppendUint64(nil, uint64(i))...)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.jpg", i)), append(b, base[2:]...), 0o666); err != nil {
			return err
		}
	}
	return nil
}
