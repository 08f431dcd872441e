// Package isolated runs tests in namespaces of their own: in a network with
// nothing but loopback, since Beam's prism and job server listen on all
// addresses, and in a process namespace that takes every process with it when
// the test ends.
package isolated

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inside marks the process in the namespaces.
const inside = "INFER_PREP_ISOLATED"

// Main is what TestMain calls. It runs this test program again in namespaces
// and exits with its status. Where the system does not allow namespaces, the
// tests run without.
func Main(m *testing.M) {
	if os.Getenv(inside) != "" {
		if err := loopback(); err != nil {
			fmt.Fprintln(os.Stderr, "isolated:", err)
			os.Exit(1)
		}
		code := m.Run()
		if left(10 * time.Second) {
			fmt.Fprintln(os.Stderr, "isolated: the tests left processes behind")
			code = max(code, 1)
		}
		os.Exit(code)
	}
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Args[0] = os.Args[0]
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), inside+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	err := c.Start()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		os.Exit(m.Run()) // tests that need the namespaces skip
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "isolated:", err)
		os.Exit(1)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code >= 0 {
		os.Exit(code)
	}
	os.Exit(1)
}

// Require skips a test outside the namespaces.
func Require(t testing.TB) {
	t.Helper()
	if os.Getenv(inside) == "" && os.Getenv("INFER_PREP_SPARK") != "" {
		t.Fatal("make cluster-test needs a network namespace: run it as root, or allow user namespaces")
	}
	if os.Getenv(inside) == "" {
		t.Skip("the system refuses a network namespace, and Beam's servers listen on all addresses")
	}
}

// loopback brings the interface lo up.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(s)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r); err != nil {
		return fmt.Errorf("lo: %w", err)
	}
	return nil
}

// left waits until no other process is left in the namespace, at most for d,
// and reports whether there is one then.
func left(d time.Duration) bool {
	for end := time.Now().Add(d); ; time.Sleep(50 * time.Millisecond) {
		// This process is the first of its namespace and inherits orphans.
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
		if errors.Is(unix.Kill(-1, 0), unix.ESRCH) {
			return false
		}
		if time.Now().After(end) {
			return true
		}
	}
}
