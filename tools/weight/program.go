package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// parts names the parts of a program by the folders of their packages. The
// first match counts.
var parts = []struct {
	name    string
	folders []string
}{
	{"MindRecord, with SQLite where it is linked", []string{"modernc.org", "database/sql", own + "records/mindrecord", own + "dataset/mindrecord", "github.com/dustin/go-humanize", "github.com/google/uuid", "github.com/remyoudompheng/bigfft", "github.com/ncruces/go-strftime"}},
	{"jpegli and its WebAssembly runtime", []string{"github.com/tetratelabs", "github.com/gen2brain", own + "codec/jpegli", "debug"}},
	{"net/http, TLS and cryptography, of serve and the HTTP store", []string{"net", "crypto", "vendor", "mime", "encoding/asn1", "math/big"}},
	{"the commands", []string{own + "cmd", "github.com/spf13", own + "internal/opdoc", own + "docs", own + "internal/coverage", "golang.org/x/term", "text/template", "html"}},
	{"datasets: nodes and plain sources", []string{own + "dataset/all", own + "dataset/csv", own + "dataset/internal", own + "dataset", own + "pipeline", own + "pullpipe"}},
	{"ops, kernels and graphs", []string{own + "transforms", own + "internal/kernel", own + "internal/exactmath", own + "datagraph", own + "tensor", own + "rng", own + "device/cpu", "github.com/tinylib", "github.com/philhofer"}},
	{"image formats", []string{own + "codec", "golang.org/x/image", "image"}},
	{"importers, ONNX and bundles", []string{own + "importer", own + "onnx", own + "modelbundle", own + "internal/protowire", "go.yaml.in"}},
	{"pack", []string{own + "pack"}},
	{"record formats and compression", []string{own + "records", own + "recordio", own + "internal/hdf5", own + "internal/lmdb", "github.com/klauspost", "compress", "archive", "encoding/xml", "encoding/csv"}},
	{"ONNX Runtime's glue and plugins", []string{own + "device", "github.com/ebitengine", own + "internal/clib"}},
	{"jobs, stores and the rest of this module", []string{own}},
}

const own = "github.com/infer-prep/infer-prep/"

// special are folders that belong to other parts than those they lie in.
var special = map[string]string{
	own + "dataset/sets":      "published data sets",
	own + "transforms/plugin": "ONNX Runtime's glue and plugins",
	own + "device/cpu":        "ops, kernels and graphs",
}

// Other parts.
const (
	goRuntime = "Go's runtime and standard library"
	others    = "other modules"
)

// part returns the part that a package belongs to.
func part(pkg string) string {
	in := func(folder string) bool {
		return pkg == strings.TrimSuffix(folder, "/") || strings.HasPrefix(pkg, strings.TrimSuffix(folder, "/")+"/")
	}
	for folder, name := range special {
		if in(folder) {
			return name
		}
	}
	for _, p := range parts {
		if slices.ContainsFunc(p.folders, in) {
			return p.name
		}
	}
	if first, _, _ := strings.Cut(pkg, "/"); strings.Contains(first, ".") {
		return others
	}
	return goRuntime
}

// packageOf returns the package of a function's symbol.
func packageOf(symbol string) string {
	symbol = strings.TrimPrefix(symbol, "type:.eq.")
	symbol = strings.TrimLeft(symbol, "[]*0123456789")
	if i := strings.IndexAny(symbol, "[("); i >= 0 {
		symbol = symbol[:i]
	}
	slash := strings.LastIndexByte(symbol, '/')
	if dot := strings.IndexByte(symbol[slash+1:], '.'); dot >= 0 {
		return symbol[:slash+1+dot]
	}
	return "runtime" // of the linker
}

// program writes a table of what the parts of a program weigh: the code of
// their functions and, by it, their share of the rest.
func program(w io.Writer, dir string) error {
	temp, err := os.MkdirTemp("", "weight")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	build := func(name, flags string) (string, error) {
		file := filepath.Join(temp, name)
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags="+flags, "-o", file, dir)
		cmd.Stderr = os.Stderr
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
		return file, cmd.Run()
	}
	stripped, err := build("stripped", "-s -w")
	if err != nil {
		return err
	}
	whole, err := build("whole", "-w")
	if err != nil {
		return err
	}
	i, err := os.Stat(stripped)
	if err != nil {
		return err
	}
	code, err := codeOf(whole)
	if err != nil {
		return err
	}
	writeParts(w, i.Size(), code)
	return nil
}

// codeOf returns the bytes of code of each part of a program.
func codeOf(file string) (map[string]int64, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	code := map[string]int64{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			code[part(packageOf(s.Name))] += int64(s.Size)
		}
	}
	return code, nil
}

// writeParts writes the table of a program of size bytes.
func writeParts(w io.Writer, size int64, code map[string]int64) {
	var names []string
	sum := int64(0)
	for name, n := range code {
		names = append(names, name)
		sum += n
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(code[b], code[a]), strings.Compare(a, b)) })
	fmt.Fprint(w, "| part | MB of code | MB with its share of tables, types and text |\n|---|---:|---:|\n")
	for _, name := range names {
		n := float64(code[name])
		fmt.Fprintf(w, "| %s | %.2f | %.2f |\n", name, n/1e6, n/1e6*float64(size)/float64(sum))
	}
	fmt.Fprintf(w, "| the program, stripped, for linux/amd64 | %.2f | %.2f |\n", float64(sum)/1e6, float64(size)/1e6)
}
