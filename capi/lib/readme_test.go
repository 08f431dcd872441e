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

// TestReadme compiles and runs the README's programs by its command lines, in a
// folder that has the built package, in another place than where it was built,
// and an image, with an environment that has a PATH only.
func TestReadme(t *testing.T) {
	builds(t)
	lib := library(t)
	blocks := blocksOf(t, "../README.md")
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for lang, name := range map[string]string{"c": "prep.c", "cpp": "prep.cpp"} {
		require.Len(t, blocks[lang], 1)
		require.LessOrEqual(t, strings.Count(blocks[lang][0], "\n"), 15, name)
		write(name, blocks[lang][0])
	}
	require.Len(t, blocks["sh"], 1)
	require.Len(t, blocks["cmake"], 1)
	// Beside the README's lines: a release that is not there, and the static
	// library.
	write("CMakeLists.txt", `cmake_minimum_required(VERSION 3.16)
project(prep C CXX)
find_package(infer_prep 99 QUIET)
if(infer_prep_FOUND)
  message(FATAL_ERROR "found version 99")
endif()
`+blocks["cmake"][0]+`
add_executable(prep-cmake-static prep.cpp)
target_compile_features(prep-cmake-static PRIVATE cxx_std_17)
target_link_libraries(prep-cmake-static infer_prep::static)
`)
	require.NoError(t, os.CopyFS(filepath.Join(dir, "dist/capi"), os.DirFS(lib)))
	image, err := os.ReadFile(large)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "testdata/images"), 0o700))
	write("testdata/images/jpeg_large.jpg", string(image))

	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(blocks["sh"][0]), "\n") {
		tool, _, _ := strings.Cut(line, " ")
		switch {
		case tool == "make": // the library is built
		case strings.Contains(line, "cpp") && missing("pkg-config"), strings.Contains(line, "cmake") && missing("cmake"):
			t.Logf("left out: %s", line)
		default:
			lines = append(lines, line)
		}
	}
	if !missing("cmake") {
		lines = append(lines, "build/prep-cmake-static preset:imagenet testdata/images/jpeg_large.jpg | head -1")
	}
	c := exec.Command("bash", "-euc", strings.Join(lines, "\n"))
	c.Dir = dir
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	runs := 0
	for _, line := range lines {
		if strings.Contains(line, "preset:imagenet") {
			runs++
		}
	}
	require.GreaterOrEqual(t, runs, 2)
	require.Equal(t, runs, strings.Count(string(out), "-1.05617"), string(out))
}

// blocksOf returns the blocks of code of a file, by their language.
func blocksOf(t *testing.T, file string) map[string][]string {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	blocks := map[string][]string{}
	for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(string(b), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	return blocks
}
