package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// settings are the flags that soak and its child processes share.
type settings struct {
	Minutes      float64
	Count        int
	Seed         uint64
	Images, Only string
	Dir          string // the process's own temporary folder
	Binary       string // the program infer-prep
}

// trials returns the number of trials of a part: most by default, or its share
// of -count.
func (s *settings) trials(most int) int {
	if s.Count == 0 {
		return most
	}
	return max(1, most*s.Count/1000)
}

// children lists the child processes that are not parts.
var children = map[string]func(context.Context, *settings, []string) error{
	"endurance": enduranceChild,
	"cache":     cacheChild,
	"fault":     faultChild,
}

var folders atomic.Int64

// command returns a child process with a temporary folder of its own. The child
// ends when ctx ends or this process dies: its standard input ends then. It is
// killed if it does not end within 30 seconds.
func (s *settings) command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.Dir, fmt.Sprint(name, folders.Add(1)))
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	flags := []string{
		"-child", name, "-dir", dir, "-binary", s.Binary, "-images", s.Images,
		"-minutes", fmt.Sprint(s.Minutes), "-count", fmt.Sprint(s.Count), "-seed", fmt.Sprint(s.Seed), "--",
	}
	c := exec.CommandContext(ctx, self, append(flags, args...)...)
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	c.Cancel = in.Close
	c.WaitDelay = 30 * time.Second
	return c, nil
}

// runChild is the main function of a child process. It returns its exit status.
func runChild(name string, s *settings, args []string) int {
	signal.Ignore(os.Interrupt) // the terminal sends it to all; the parent decides
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	err := fmt.Errorf("no child process %q", name)
	if f, ok := children[name]; ok {
		err = f(ctx, s, args)
	}
	for _, p := range parts {
		if p.name != name {
			continue
		}
		var x *section
		if x, err = p.run(ctx, s); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(x)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "soak: %s: %v\n", name, err)
		return 1
	}
	return 0
}

// partBound is the time within which a part ends. The kills take some ten
// minutes on two busy cores.
const partBound = 2 * time.Hour

// part runs a part in a child process. A crash or a hang is a failure.
func (s *settings) part(ctx context.Context, name string) *section {
	ctx, cancel := context.WithTimeout(ctx, partBound)
	defer cancel()
	x := &section{Title: name}
	var out bytes.Buffer
	errs := &tail{}
	c, err := s.command(ctx, name)
	if err == nil {
		c.Stdout, c.Stderr = &out, io.MultiWriter(os.Stderr, errs)
		err = c.Run()
	}
	if err == nil {
		err = json.Unmarshal(out.Bytes(), x)
	}
	if err != nil {
		x.failf("the process of part %s: %v\n%s", name, err, errs)
	}
	return x
}

// tail is a writer that keeps the last 4 KiB.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-4096):]
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.b)) }
