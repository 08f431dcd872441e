//go:build cgo

package main

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// compilers are those of C and of C++ that are installed, gcc's first.
func compilers(t *testing.T) (c, cpp []string) {
	library(t) // skips the test without gcc
	c, cpp = []string{"gcc"}, []string{"g++"}
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
	for _, args := range [][]string{
		{"g++", "-std=c++17"}, {cpp[len(cpp)-1], "-std=c++20"}, {"g++", "-std=c++20", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"},
	} {
		p := compile(t, args[0], "../testdata/check.cpp", args[1:]...)
		require.Equal(t, "-1.05617 -0.884922 -0.6623\n", runProgram(t, p, "api", large), args)
	}
}
