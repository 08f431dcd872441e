//go:build linux

// Package peer is a Go program's side of the protocol that bench.py speaks with
// the libraries it compares (bench/README.md).
package peer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
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
	fmt.Printf("ready %s\n", version)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		word, arg, _ := strings.Cut(in.Text(), " ")
		switch word {
		case "go":
			cpu, start := cpuTime(), time.Now()
			if err := all(nothing); err != nil {
				return err
			}
			fmt.Printf("%d %.9f %.9f\n", len(images), time.Since(start).Seconds(), (cpuTime() - cpu).Seconds())
		case "check":
			h := sha256.New()
			if err := all(func(b []byte) { h.Write(b) }); err != nil {
				return err
			}
			fmt.Printf("%x\n", h.Sum(nil))
		case "profile":
			n, err := profile(arg, func() error { return all(nothing) })
			if err != nil {
				return err
			}
			fmt.Println(n * len(images))
		case "quit":
			peak, err := peakRSS()
			fmt.Println(peak)
			return err
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

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // which cannot fail with this argument
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
