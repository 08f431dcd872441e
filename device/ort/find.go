//go:build ((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib

package ort

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/device"
)

// Environment names the environment variable that holds the path of the library
// or of its folder.
const Environment = "INFER_PREP_ORT"

// libraryNames lists glob patterns of the library's file, the likeliest first.
func libraryNames() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"onnxruntime.dll"}
	case "darwin":
		return []string{"libonnxruntime.dylib", "libonnxruntime.*.dylib"}
	}
	return []string{"libonnxruntime.so", "libonnxruntime.so.*"}
}

// inFolder finds the newest version of the library in a folder.
func inFolder(dir string) (string, bool) {
	for _, name := range libraryNames() {
		l, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil || len(l) == 0 {
			continue
		}
		return slices.MaxFunc(l, func(a, b string) int {
			return slices.CompareFunc(numbers(filepath.Base(a)), numbers(filepath.Base(b)), cmp.Compare[int])
		}), true
	}
	return "", false
}

// numbers returns the version numbers in a file name: 1, 31, 1 for
// libonnxruntime.so.1.31.1.
func numbers(name string) (l []int) {
	for _, p := range strings.Split(name, ".") {
		if n, err := strconv.Atoi(p); err == nil {
			l = append(l, n)
		}
	}
	return l
}

// named finds the library at a path given by the user, a file or a folder.
func named(by, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%w: %s=%s: %w", device.ErrUnavailable, by, path, err)
	}
	if !info.IsDir() {
		return path, nil
	}
	if l, ok := inFolder(path); ok {
		return l, nil
	}
	return "", fmt.Errorf("%w: %s=%s: the folder has no %s", device.ErrUnavailable, by, path, strings.Join(libraryNames(), " or "))
}

// environments lists the folders of Python environments that are in use: the
// active ones, and that of the python3 in PATH, which may be the system's.
func environments() (l []string) {
	for _, v := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(v); dir != "" {
			l = append(l, dir)
		}
	}
	for _, name := range []string{"python3", "python"} {
		p, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if dir := filepath.Dir(p); runtime.GOOS == "windows" { // python.exe is in Scripts or at the top
			l = append(l, filepath.Dir(dir), dir)
		} else {
			l = append(l, filepath.Dir(dir))
		}
		break
	}
	return l
}

// missing returns the error of a library that is nowhere. err is that of the
// system's loader.
func missing(err error) error {
	const help = "ONNX Runtime's library was not found. Install it in the Python environment in use (pip install onnxruntime), put it beside the program, or name it or its folder in lib=PATH or the environment variable " + Environment
	if err == nil {
		return fmt.Errorf("%w: %s", device.ErrUnavailable, help)
	}
	return fmt.Errorf("%w: %s (%w)", device.ErrUnavailable, help, err)
}

// findLibrary searches for the library in the order that the package comment
// lists.
func findLibrary(option string) (string, error) {
	if option != "" {
		return named("lib", option)
	}
	if v := os.Getenv(Environment); v != "" {
		return named(Environment, v)
	}
	var dirs []string
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		d := filepath.Dir(exe)
		dirs = append(dirs, d, filepath.Join(d, "lib"), filepath.Join(d, "..", "lib"))
	}
	for _, env := range environments() {
		for _, packages := range []string{"Lib/site-packages", "lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages"} {
			l, _ := filepath.Glob(filepath.Join(env, filepath.FromSlash(packages), "onnxruntime", "capi"))
			dirs = append(dirs, l...)
		}
	}
	if conda := os.Getenv("CONDA_PREFIX"); conda != "" { // its package onnxruntime-cpp
		dirs = append(dirs, filepath.Join(conda, "lib"))
	}
	switch runtime.GOOS {
	case "linux":
		triple := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
		dirs = append(dirs, "/usr/local/lib", "/usr/local/lib64", "/usr/lib/"+triple, "/usr/lib64", "/usr/lib")
	case "darwin":
		dirs = append(dirs, "/opt/homebrew/lib", "/usr/local/lib")
	}
	for _, d := range dirs {
		if l, ok := inFolder(d); ok {
			return l, nil
		}
	}
	if runtime.GOOS == "windows" {
		return "", missing(nil)
	}
	return map[string]string{"linux": "libonnxruntime.so.1", "darwin": "libonnxruntime.dylib"}[runtime.GOOS], nil
}
