//go:build linux

// Package peer is a Go program's side of the protocol that bench.py and its kin speak with
// the libraries they compare (bench/README.md).
package peer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"
)

// Case prepares a case for the images, which are JPEG files in memory, and
// returns what computes the output of the i-th. The bytes are valid until the
// next call. extra is the file that the case was given besides, or nil.
type Case func(images [][]byte, extra []byte) (func(i int) ([]byte, error), error)

// Main runs the program: arguments CASE DIR [EXTRA].
func Main(version string, cases map[string]Case) {
	if err := run(version, cases, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func run(version string, cases map[string]Case, args []string) error {
	if len(args) < 2 || cases[args[0]] == nil {
		return fmt.Errorf("%q: want CASE DIR [EXTRA]", args)
	}
	names, err := filepath.Glob(filepath.Join(args[1], "*.jpg")) // sorted
	if err != nil {
		return err
	}
	var images [][]byte
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			return err
		}
		images = append(images, b)
	}
	var extra []byte
	if len(args) > 2 {
		if extra, err = os.ReadFile(args[2]); err != nil {
			return err
		}
	}
	one, err := cases[args[0]](images, extra)
	if err != nil {
		return err
	}
	all := func(use func([]byte)) error {
		for i := range images {
			out, err := one(i)
			if err != nil {
				return fmt.Errorf("%s: %w", names[i], err)
			}
			use(out)
		}
		return nil
	}
	nothing := func([]byte) {}
	if err := all(nothing); err != nil {
		return err
	}
	return Serve(version, Answers{
		Go:    func() (int, error) { return len(images), all(nothing) },
		Check: func(w io.Writer) error { return all(func(b []byte) { _, _ = w.Write(b) }) }, // a hash's never fails
		Profile: func(file string) (int, error) {
			n, err := profile(file, func() error { return all(nothing) })
			return n * len(images), err
		},
		Quit: func() error {
			peak, err := peakRSS()
			fmt.Println(peak)
			return err
		},
	})
}

// Answers are what a program does on the words of the protocol. Those that are nil it does not know, Quit apart.
type Answers struct {
	Go      func() (int, error)     // what is timed; gives how many it did
	Check   func(w io.Writer) error // writes what is compared
	Profile func(file string) (int, error)
	Quit    func() error // last
}

// Serve says that the program is ready and answers until it is told to quit.
func Serve(version string, a Answers) error {
	fmt.Printf("ready %s\n", version)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		word, arg, _ := strings.Cut(in.Text(), " ")
		switch {
		case word == "go":
			cpu, start := cpuTime(), time.Now()
			n, err := a.Go()
			if err != nil {
				return err
			}
			fmt.Printf("%d %.9f %.9f\n", n, time.Since(start).Seconds(), (cpuTime() - cpu).Seconds())
		case word == "check" && a.Check != nil:
			h := sha256.New()
			if err := a.Check(h); err != nil {
				return err
			}
			fmt.Printf("%x\n", h.Sum(nil))
		case word == "profile" && a.Profile != nil:
			n, err := a.Profile(arg)
			if err != nil {
				return err
			}
			fmt.Println(n)
		case word == "quit":
			if a.Quit == nil {
				return nil
			}
			return a.Quit()
		default:
			return fmt.Errorf("%q: want go, check, profile FILE or quit", in.Text())
		}
	}
	return in.Err()
}

// profile runs all again and again for some seconds, and writes a CPU profile of
// it. It returns how often it ran.
func profile(name string, all func() error) (n int, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return 0, err
	}
	for start := time.Now(); time.Since(start) < profileTime && err == nil; n++ {
		err = all()
	}
	pprof.StopCPUProfile()
	return n, errors.Join(err, f.Close())
}

// profileTime gives some 500 samples, so that a share of 10 % is right within 3.
const profileTime = 5 * time.Second

// cpuTime is that of the process and of its children that have ended.
func cpuTime() time.Duration {
	var t time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		_ = syscall.Getrusage(who, &u) // which cannot fail with these arguments
		t += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return t
}

// peakRSS is the most memory that the program had, in bytes.
func peakRSS() (kib int64, err error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(b) {
		if rest, ok := strings.CutPrefix(string(line), "VmHWM:"); ok {
			_, err := fmt.Sscanf(rest, "%d kB", &kib)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no VmHWM")
}
