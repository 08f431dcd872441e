package clib

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
)

// Library describes where a shared library may be.
type Library struct {
	Environment string   // variable that names the library's path or its folder
	Files       []string // glob patterns of the file's name, the likeliest first
	// Packages lists folders below a Python environment's site-packages, with
	// slashes. They may be glob patterns.
	Packages []string
	Conda    bool   // conda's folder of libraries may have it
	System   string // name for the system's loader, "" for none
}

// Find returns the path of the library. If path is not empty, it must name the
// library or its folder, and errors call it by. Else the environment variable
// must. Without both, Find searches the program's folder, its folder lib and
// the folder lib beside that, then the Python environment in use, then the
// system's folders. If none has the library, Find returns System: the loader
// searches on.
func (l *Library) Find(by, path string) (string, error) {
	if path != "" {
		return l.named(by, path)
	}
	if v := os.Getenv(l.Environment); v != "" {
		return l.named(l.Environment, v)
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
			for _, p := range l.Packages {
				found, _ := filepath.Glob(filepath.Join(env, filepath.FromSlash(packages), filepath.FromSlash(p)))
				dirs = append(dirs, found...)
			}
		}
	}
	if conda := os.Getenv("CONDA_PREFIX"); conda != "" && l.Conda {
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
		if f, ok := l.inFolder(d); ok {
			return f, nil
		}
	}
	return l.System, nil
}

// inFolder finds the newest version of the library in a folder.
func (l *Library) inFolder(dir string) (string, bool) {
	for _, name := range l.Files {
		found, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil || len(found) == 0 {
			continue
		}
		return slices.MaxFunc(found, func(a, b string) int {
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
func (l *Library) named(by, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%s=%s: %w", by, path, err)
	}
	if !info.IsDir() {
		return path, nil
	}
	if f, ok := l.inFolder(path); ok {
		return f, nil
	}
	return "", fmt.Errorf("%s=%s: the folder has no %s", by, path, strings.Join(l.Files, " or "))
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
