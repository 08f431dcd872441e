//go:build linux

// Package peer implements the protocol between bench.py and the programs it
// compares, for programs in Go. bench/README.md describes the protocol.
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
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Case prepares a case for images, which are encoded JPEG files. The function
// it returns computes the output of image i; the bytes are valid until its next
// call. extra is the content of the optional third argument, or nil.
type Case func(images [][]byte, extra []byte) (func(i int) ([]byte, error), error)

// Main runs the program: arguments CASE DIR [EXTRA].
func Main(version string, cases map[string]Case) {
	if err := run(version, cases, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// Images reads the files DIR/*.jpg, sorted by name.
func Images(dir string) (names []string, images [][]byte, err error) {
	if names, err = filepath.Glob(filepath.Join(dir, "*.jpg")); err != nil {
		return nil, nil, err
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			return nil, nil, err
		}
		images = append(images, b)
	}
	return names, images, nil
}

func run(version string, cases map[string]Case, args []string) error {
	if len(args) < 2 || cases[args[0]] == nil {
		return fmt.Errorf("%q: want CASE DIR [EXTRA]", args)
	}
	names, images, err := Images(args[1])
	if err != nil {
		return err
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
		Check: func(w io.Writer) error { return all(func(b []byte) { _, _ = w.Write(b) }) }, // a hash never fails
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

// Answers holds a program's reactions to the words of the protocol. A nil
// function makes its word unknown, except for Quit.
type Answers struct {
	Go      func() (int, error)     // the timed work; returns the number of items
	Op      func(i int) error       // selects the work of Go and Check
	Check   func(w io.Writer) error // writes the data to compare
	Profile func(file string) (int, error)
	Quit    func() error // called last
}

// Serve prints that the program is ready and answers words until "quit".
func Serve(version string, a Answers) error {
	fmt.Printf("ready %s\n", version)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		word, arg, _ := strings.Cut(in.Text(), " ")
		switch {
		case word == "go":
			times := 1
			if arg != "" {
				var err error
				if times, err = strconv.Atoi(arg); err != nil {
					return fmt.Errorf("%q: want go or go NUMBER", in.Text())
				}
			}
			n, cpu, start := 0, cpuTime(), time.Now()
			for range times {
				items, err := a.Go()
				if err != nil {
					return err
				}
				n += items
			}
			fmt.Printf("%d %.9f %.9f\n", n, time.Since(start).Seconds(), (cpuTime() - cpu).Seconds())
		case word == "op" && a.Op != nil:
			i, err := strconv.Atoi(arg)
			if err == nil {
				err = a.Op(i)
			}
			if err != nil {
				fmt.Printf("error %v\n", err)
			} else {
				fmt.Println("ready")
			}
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
			return fmt.Errorf("%q: want go, op, check, profile FILE or quit", in.Text())
		}
	}
	return in.Err()
}

// profile repeats the work for profileTime and writes a CPU profile of it. It
// returns the number of repetitions.
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

// profileTime yields some 500 samples: a share of 10 % is accurate within 3 %.
const profileTime = 5 * time.Second

// cpuTime returns the CPU time of the process and its ended children.
func cpuTime() time.Duration {
	var t time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		_ = syscall.Getrusage(who, &u) // cannot fail with these arguments
		t += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return t
}

// peakRSS returns the peak memory of the program in bytes.
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
