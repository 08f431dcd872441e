// Command sbom prints the software bill of materials of Go programs as
// CycloneDX 1.6 JSON, from the module list that the Go linker stores in them.
//
//	go run ./tools/sbom -version 0.1.0 PROGRAM... > sbom.cdx.json
//
// All programs must be builds of one main module. The output depends on the
// programs and the version alone: it has no time and no random serial number.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	version := flag.String("version", "", "version of the main module, without a leading v")
	flag.Parse()
	if *version == "" || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: sbom -version VERSION PROGRAM...")
		os.Exit(2)
	}
	var infos []*debug.BuildInfo
	for _, name := range flag.Args() {
		i, err := buildinfo.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "sbom:", err)
			os.Exit(1)
		}
		infos = append(infos, i)
	}
	if err := write(os.Stdout, *version, infos); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// component is a CycloneDX component.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// write writes the bill of materials of programs with these build infos.
func write(w io.Writer, version string, infos []*debug.BuildInfo) error {
	if len(infos) == 0 {
		return fmt.Errorf("no program")
	}
	path := infos[0].Main.Path
	modules := map[string]component{}
	for _, i := range infos {
		if i.Main.Path != path {
			return fmt.Errorf("programs of two modules, %s and %s: want one", path, i.Main.Path)
		}
		for _, m := range i.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			c, err := library(m)
			if err != nil {
				return err
			}
			modules[c.Ref] = c
		}
		std := strings.TrimPrefix(i.GoVersion, "go")
		std, _, _ = strings.Cut(std, " ")
		purl := "pkg:golang/std@" + std
		modules[purl] = component{Type: "library", Ref: purl, Name: "std", Version: std, PURL: purl}
	}
	main := component{Type: "application", Name: path, Version: version, PURL: "pkg:golang/" + path + "@v" + version}
	main.Ref = main.PURL
	refs := slices.Sorted(maps.Keys(modules))
	bom := struct {
		Format       string         `json:"bomFormat"`
		Spec         string         `json:"specVersion"`
		Version      int            `json:"version"`
		Metadata     map[string]any `json:"metadata"`
		Components   []component    `json:"components"`
		Dependencies []dependency   `json:"dependencies"`
	}{"CycloneDX", "1.6", 1, map[string]any{"component": main}, nil, []dependency{{main.Ref, refs}}}
	for _, r := range refs {
		bom.Components = append(bom.Components, modules[r])
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(bom)
}

// library returns the component of a module. Its hash is the h1 sum that go.sum
// has: SHA-256 over the list of the module's files.
func library(m *debug.Module) (component, error) {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	c := component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
	if s, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil || len(b) != 32 {
			return c, fmt.Errorf("%s: sum %q, want h1: and 32 bytes in base64", m.Path, m.Sum)
		}
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(b)}}
	}
	return c, nil
}
