//go:build linux

// Command spawn measures whole processes. "spawn COUNT COMMAND ARGUMENT..."
// runs the command COUNT times. It prints a line for each run: seconds to the
// first line of output, seconds to the end, CPU seconds, peak memory in bytes.
// It is a program of its own because the peak of a process starts at the peak
// of its parent.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "spawn:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%q: want COUNT COMMAND and its arguments", args)
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for range n {
		if err := once(args[1:]); err != nil {
			return fmt.Errorf("%s: %w", args[1], err)
		}
	}
	return nil
}

func once(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	var first time.Duration
	b := make([]byte, 4096)
	for {
		_, err := out.Read(b)
		if first == 0 {
			first = time.Since(start)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	end := time.Since(start)
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	fmt.Printf("%.6f %.6f %.6f %d\n", first.Seconds(), end.Seconds(), cpu.Seconds(), u.Maxrss<<10)
	return nil
}
