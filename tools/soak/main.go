// Command soak runs the library and the command line for a long time and
// disturbs them: cancels, resumptions, kills and file faults.
//
//	go run ./tools/soak [-minutes N] [-count N] [-seed N] [-write FILE]
//
// It needs the module's root as its working directory and nothing outside the
// module. The endurance runs take -minutes in child processes; the other parts
// run meanwhile, one after another, each in a child process of its own, so that
// a crash is a failure of that part alone. soak prints Markdown tables. With
// -write it replaces the section between two marker comments of FILE with them.
// It exits with status 1 if an expectation failed and 130 if interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// parts lists the parts that run one after another beside the endurance runs.
var parts = []struct {
	name string
	run  func(context.Context, *settings) (*section, error)
}{
	{"cancel", cancels},
	{"resume", resumes},
	{"kill", kills},
	{"faults", faults},
}

func main() {
	s := &settings{}
	flag.Float64Var(&s.Minutes, "minutes", 30, "duration of the endurance runs in minutes")
	flag.IntVar(&s.Count, "count", 0, "cancels and resumptions, and ten times the kills of each kind; 0 means 1,000")
	flag.Uint64Var(&s.Seed, "seed", 1, "seed of all random choices")
	flag.StringVar(&s.Images, "images", filepath.Join("testdata", "images"), "folder of images")
	flag.StringVar(&s.Only, "only", "", "run this part alone: endurance, cancel, resume, kill or faults")
	write := flag.String("write", "", "replace the generated section of this Markdown file")
	child := flag.String("child", "", "internal: run as a child process of this name")
	flag.StringVar(&s.Dir, "dir", "", "internal: temporary folder of the child process")
	flag.StringVar(&s.Binary, "binary", "", "internal: the program infer-prep")
	flag.Parse()
	if *child != "" {
		os.Exit(runChild(*child, s, flag.Args()))
	}
	if flag.NArg() > 0 || s.Minutes <= 0 || s.Count < 0 {
		fmt.Fprintln(os.Stderr, "soak: want -minutes above 0, -count of 0 or more, and no arguments")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ending...)
	defer stop()
	failed, err := soak(ctx, s, *write)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "soak: interrupted")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	case failed:
		os.Exit(1)
	}
}

// soak runs all parts and prints the report. It reports whether an expectation
// failed.
func soak(ctx context.Context, s *settings, write string) (failed bool, err error) {
	if s.Images, err = filepath.Abs(s.Images); err != nil {
		return false, err
	}
	if s.Dir, err = os.MkdirTemp("", "infer-prep-soak-"); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.Dir)) }()
	s.Binary = filepath.Join(s.Dir, "infer-prep"+exeSuffix())
	progress("building cmd/infer-prep")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", s.Binary, "./cmd/infer-prep").CombinedOutput(); err != nil {
		return false, fmt.Errorf("go build ./cmd/infer-prep: %w\n%s", err, out)
	}
	start, version := time.Now(), version()
	want := func(name string) bool { return s.Only == "" || s.Only == name }
	var long *section
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if want("endurance") {
			long = endurance(ctx, s)
		}
	}()
	var sections []*section
	for _, p := range parts {
		if want(p.name) && ctx.Err() == nil {
			sections = append(sections, s.part(ctx, p.name))
		}
	}
	<-ended
	if ctx.Err() != nil {
		return false, nil
	}
	if long != nil {
		sections = append([]*section{long}, sections...)
	}
	text := report(s, version, sections, time.Since(start))
	if _, err := io.WriteString(os.Stdout, text); err != nil {
		return false, err
	}
	for _, x := range sections {
		failed = failed || len(x.Failures) > 0
	}
	if write != "" {
		err = replaceSection(write, text)
	}
	return failed, err
}

func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// progress prints a line on stderr.
func progress(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	fmt.Fprintf(os.Stderr, "%s soak: %s\n", time.Now().UTC().Format("15:04:05"), text)
}
