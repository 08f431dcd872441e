//go:build cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compilers are those of C and of C++ that are installed, gcc's first; without
// make capi-test those alone.
func compilers(t *testing.T) (c, cpp []string) {
	library(t) // skips the test without gcc
	c, cpp = []string{"gcc"}, []string{"g++"}
	if !whole() {
		return c, cpp
	}
	if missing("clang") || missing("clang++") {
		t.Log("clang is missing (Debian: clang)")
		return c, cpp
	}
	return append(c, "clang"), append(cpp, "clang++")
}

// TestHeader compiles the headers alone, with more warnings than most projects
// ask for.
func TestHeader(t *testing.T) {
	c, cpp := compilers(t)
	compile := func(compiler string, args ...string) {
		args = append([]string{"-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-fsyntax-only"}, args...)
		out, err := exec.Command(compiler, args...).CombinedOutput()
		require.NoError(t, err, "%s %v: %s", compiler, args, out)
	}
	for _, cc := range c {
		compile(cc, "-std=c99", "-xc", "../testdata/header.c")
		compile(cc, "-std=c17", "-xc", "../testdata/header.c")
	}
	for _, cc := range cpp {
		for _, std := range []string{"-std=c++11", "-std=c++17", "-std=c++20"} {
			compile(cc, std, "-Wold-style-cast", "-xc++", "../testdata/header.c")
		}
		for _, std := range []string{"-std=c++17", "-std=c++20"} {
			compile(cc, std, "-Wold-style-cast", "-xc++", "../testdata/header.cpp")
		}
	}
}

// TestCPlusPlus runs infer_prep.hpp, with std::span and without, and under the
// sanitizers.
func TestCPlusPlus(t *testing.T) {
	_, cpp := compilers(t)
	programs := [][]string{{"g++", "-std=c++17"}}
	if whole() {
		programs = append(programs, []string{cpp[len(cpp)-1], "-std=c++20"}, []string{"g++", "-std=c++20", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"})
	}
	for _, args := range programs {
		p := compile(t, args[0], "../testdata/check.cpp", args[1:]...)
		require.Equal(t, "-1.05617 -0.884922 -0.6623\n", runProgram(t, p, "api", large), args)
	}
}

// valgrind runs a program under valgrind's memcheck and returns its reports
// about the program's memory. Go switches stacks and clears memory in ways that
// valgrind does not follow, so a report from within the library counts only if
// it names a block of malloc that is freed, or that the access lies beside, or
// writes to. Reads that begin in a block are left out: Go looks for the end of
// a text in steps of 32 bytes, within a page.
func valgrind(t *testing.T, program string, args ...string) []string {
	t.Helper()
	args = append([]string{"--error-limit=no", "--leak-check=full", "--show-leak-kinds=definite", program}, args...)
	out, err := exec.Command("valgrind", args...).CombinedOutput()
	require.NoError(t, err, string(out))
	var reports []string
	for _, r := range regexp.MustCompile(`(?m)^==\d+== $`).Split(string(out), -1) {
		_, frame, found := strings.Cut(r, "    at ")
		frame, _, _ = strings.Cut(frame, "\n")
		blocks := regexp.MustCompile(`free'd|(before|after) a block of size`).MatchString(r) || strings.Contains(r, "Invalid write") && strings.Contains(r, "alloc'd")
		lost := strings.Contains(r, "definitely lost") && !strings.Contains(r, "definitely lost: 0 bytes")
		if lost || found && (blocks || !strings.Contains(frame, "libinfer_prep.so")) {
			reports = append(reports, r)
		}
	}
	return reports
}

// TestValgrind watches the memory of programs in C and C++, and finds a fault.
func TestValgrind(t *testing.T) {
	builds(t)
	if !whole() {
		t.Skip("make capi-test runs it")
	}
	library(t)
	if missing("valgrind") {
		t.Skip("valgrind is missing (Debian: valgrind)")
	}
	c := compile(t, "gcc", "../testdata/check.c", "-std=c99")
	gray := root + "testdata/images/jpeg_gray.jpg"
	found := strings.Join(valgrind(t, c, "overrun", gray), "")
	require.Contains(t, found, "0 bytes after a block of size 602,104")
	require.Contains(t, found, "0 bytes after a block of size 4 ")
	require.Empty(t, valgrind(t, c, "digest", "preset", "clip", gray, large))
	require.Empty(t, valgrind(t, c, "api", large))
	require.Empty(t, valgrind(t, c, "batch", large))
	require.Empty(t, valgrind(t, c, "garbage", gray, "500"))
	require.Empty(t, valgrind(t, compile(t, "g++", "../testdata/check.cpp", "-std=c++17"), "api", large))
}

// TestAddressSanitizer watches the C of the library: shim.c. The assembly of Go
// is not watched.
func TestAddressSanitizer(t *testing.T) {
	builds(t)
	if !whole() {
		t.Skip("make capi-test runs it")
	}
	library(t)
	lib, p := filepath.Join(t.TempDir(), "lib.a"), filepath.Join(t.TempDir(), "program")
	c := exec.Command("go", "build", "-asan", "-buildmode=c-archive", "-o", lib, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.Command("gcc", "-std=c99", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I..", "../testdata/check.c", lib, "-lpthread", "-o", p).CombinedOutput()
	require.NoError(t, err, string(out))
	gray := root + "testdata/images/jpeg_gray.jpg"
	runProgram(t, p, "api", large)
	runProgram(t, p, "batch", large)
	runProgram(t, p, "garbage", gray, "2000")
	out, err = exec.Command(p, "overrun", gray).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "heap-buffer-overflow")
}
