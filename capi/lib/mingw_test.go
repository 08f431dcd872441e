//go:build cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

const mingw = "x86_64-w64-mingw32-"

// dll builds the library for Windows.
func dll(t *testing.T) string {
	t.Helper()
	if os.Getenv("INFER_PREP_WINDOWS") == "" {
		t.Skip("make capi-windows-test runs it")
	}
	if missing(mingw+"gcc") || missing(mingw+"g++") {
		t.Fatal("MinGW-w64 is missing (Debian: gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix)")
	}
	dir := t.TempDir()
	c := exec.Command("../build.sh", dir)
	c.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CC="+mingw+"gcc")
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}

// wine returns a function that runs a program of Windows and returns what it
// prints, with the ends of lines of Unix.
func wine(t *testing.T) func(program string, args ...string) string {
	t.Helper()
	bin, err := exec.LookPath("wine64")
	if err != nil {
		bin = "/usr/lib/wine/wine64" // Debian's, which is on no PATH
	}
	if missing(bin) {
		t.Fatal("Wine is missing (Debian: wine64)")
	}
	t.Setenv("WINEPREFIX", filepath.Join(t.TempDir(), "wine"))
	t.Setenv("WINEDEBUG", "-all")
	t.Setenv("LC_ALL", "C.UTF-8") // for names of files
	out, err := exec.Command(bin, "wineboot", "--init").CombinedOutput()
	require.NoError(t, err, string(out))
	t.Cleanup(func() { _ = exec.Command(strings.TrimSuffix(bin, "wine64")+"wineserver64", "--kill").Run() })
	// Go's runtime needs bcryptprimitives.dll. Windows has it, Wine 8 does not.
	to := os.Getenv("WINEPREFIX") + "/drive_c/windows/system32/bcryptprimitives.dll"
	if _, err := os.Stat(to); err != nil {
		build(t, "gcc", "-shared", "../testdata/bcryptprimitives.c", "-o", to, "-ladvapi32")
	}
	return func(program string, args ...string) string {
		return strings.ReplaceAll(runProgram(t, bin, append([]string{program}, args...)...), "\r\n", "\n")
	}
}

// build runs a compiler for Windows.
func build(t *testing.T, compiler string, args ...string) {
	t.Helper()
	out, err := exec.Command(mingw+compiler, append([]string{"-Wall", "-Wextra", "-pedantic", "-Werror", "-O1"}, args...)...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", compiler, args, out)
}

// TestWindows runs programs with the DLL, and one with the static library, in
// Wine.
func TestWindows(t *testing.T) {
	builds(t)
	dir := dll(t)
	// The DLL exports the header's functions, and needs what every Windows has.
	out, err := exec.Command(mingw+"objdump", "-p", dir+"/bin/infer_prep.dll").Output()
	require.NoError(t, err)
	var needs, exports []string
	for _, m := range regexp.MustCompile(`DLL Name: (\S+)`).FindAllSubmatch(out, -1) {
		needs = append(needs, string(m[1]))
	}
	require.Equal(t, []string{"KERNEL32.dll", "msvcrt.dll"}, needs)
	_, table, _ := strings.Cut(string(out), "[Ordinal/Name Pointer] Table")
	for _, m := range regexp.MustCompile(`(?m)^\t\[ *\d+\] (?:\+base\[ *\d+\] +\w+ )?(\w+)\r?$`).FindAllStringSubmatch(table, -1) {
		exports = append(exports, m[1])
	}
	slices.Sort(exports)
	require.Equal(t, declared(t), exports)

	run := wine(t)
	include := "-I" + dir + "/include"
	program := func(to, compiler, source, std, lib string) string {
		p := filepath.Join(dir, "bin", to)
		build(t, compiler, "-std="+std, include, source, "-o", p, dir+"/lib/"+lib, "-static", "-lpthread")
		return p
	}
	c := program("check.exe", "gcc", "../testdata/check.c", "c99", "libinfer_prep.dll.a")
	static := program("static.exe", "gcc", "../testdata/check.c", "c99", "libinfer_prep.a")
	cpp := program("cpp.exe", "g++", "../testdata/check.cpp", "c++17", "libinfer_prep.dll.a")
	gray := root + "testdata/images/jpeg_gray.jpg"
	for _, p := range []string{c, static} {
		run(p, "api", large)
		run(p, "batch", large)
		run(p, "closing", tiny(t), gray)
		run(p, "cycles", "preset:clip", gray, "100")
		t.Log(run(p, "garbage", gray, "2000"))
		t.Log(run(p, "threads", tiny(t), gray, "8000"))
	}
	require.Equal(t, "-1.05617 -0.884922 -0.6623\n", run(cpp, "api", large))
	// A path of Windows, with a drive.
	path, err := filepath.Abs(root + "testdata/configs/hf/vit-fast-saved.json")
	require.NoError(t, err)
	drive := "Z:" + strings.ReplaceAll(path, "/", `\`)
	require.Equal(t, run(c, "digest", "hf", path, large), run(c, "digest", "hf", drive, large))

	// What prints digests gives those of Linux.
	video := filepath.Join(t.TempDir(), "video.json")
	require.NoError(t, os.WriteFile(video, []byte(`{"video_processor_type": "VideoMAEVideoProcessor"}`), 0o600))
	frames := root + "importer/hf/video/testdata/small/"
	for _, args := range [][]string{
		{"video", video, "24", frames + "0.png", frames + "1.png", frames + "2.png"},
		{"collate", "hf", root + "testdata/configs/hf/detr-resnet-50.json", large, gray},
	} {
		require.Equal(t, check(t, args...), run(c, args...), args[0])
	}

	host := filepath.Join(dir, "bin/host.exe")
	build(t, "gcc", "-std=c99", include, "../testdata/windows.c", "-o", host)
	for _, when := range []string{"before", "after"} {
		t.Log(run(host, when, dir+"/bin/infer_prep.dll", large))
	}
	// CMake's files, by an example.
	if !missing("cmake") {
		example := filepath.Join(dir, "example")
		for _, args := range [][]string{
			{"-S", root + "examples/cpp", "-B", example, "-DCMAKE_SYSTEM_NAME=Windows", "-DCMAKE_CXX_COMPILER=" + mingw + "g++", "-DCMAKE_PREFIX_PATH=" + dir, "-DCMAKE_EXE_LINKER_FLAGS=-static"},
			{"--build", example},
		} {
			out, err := exec.Command("cmake", args...).CombinedOutput()
			require.NoError(t, err, string(out))
		}
		require.NoError(t, os.Link(dir+"/bin/infer_prep.dll", example+"/infer_prep.dll"))
		text := run(example+"/chunks.exe", root+"examples/vlm/model", "What is <__media__>?", large)
		require.Contains(t, text, "text What is \nimage 165 tokens, 2145 bytes of text\n  pixel_values 660 1176 ")
	}
	compareGoldens(t, short.Step(t, 10), func(args ...string) string { return run(c, args...) })
	compareGoldens(t, 8, func(args ...string) string { return run(cpp, args...) })
}
