package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
)

func (a *app) bundleCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Make, look into, check and sign model bundles",
		Args:  oneOfCommands,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.bundleCreateCmd(), a.bundleLsCmd(), a.bundleCatCmd(), a.bundleVerifyCmd(), a.bundleSignCmd(), a.bundleEmbedONNXCmd())
	return cmd
}

// openBundle opens a bundle file; its errors are failures that name the file.
func openBundle(path string, l codec.Limits) (*modelbundle.Bundle, error) {
	limits := modelbundle.DefaultLimits()
	limits.Run = l
	b, err := modelbundle.OpenFile(path, limits)
	if err != nil {
		return nil, wrapFail(plain(path, err))
	}
	return b, nil
}

// bundleArgs wants a bundle, and with n = 2 a section too.
func bundleArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		want := "a bundle"
		if n == 2 {
			want = "a bundle and a section's name"
		}
		if len(args) != n {
			return usageErr("%s wants %s, got %s", commandName(cmd), want, plural(len(args), "argument"))
		}
		return nil
	}
}

type bundleCreateFlags struct {
	graphFlags
	out, labels, least, expect                 string
	models, meta, goldens, sections, libraries []string
}

func (a *app) bundleCreateCmd() *cobra.Command {
	f := &bundleCreateFlags{}
	cmd := &cobra.Command{
		Use:   "create [--preset NAME | --graph FILE | --hf FILE | …] -o FILE",
		Short: "Make a bundle of a graph, a model, and samples that prove it",
		Long: `Make a bundle: one file with the graph, the model, its labels, metadata, and
golden samples. A golden sample is an encoded image with the digests of the
tensors that the graph makes of it now; bundle verify makes them again, on any
machine, and compares. The same content gives the same bytes.

IMAGE of --golden is a file, a folder or a glob, as run takes them. With --expect
the tensors are not those that the graph makes, but those that the training program
made of the same images, and bundle verify tells whether the graph reproduces
them: for cat.jpg, DIR/cat.jpg.npy or DIR/cat.npy is the graph's first output, and
DIR/cat.jpg.OUTPUT.npy or DIR/cat.OUTPUT.npy the one of that name. A batch axis of 1
is left out.

Exit status: 0 done; 1 something could not be read, run or written; 2 a wrong
flag or graph; 130 interrupted.`,
		Example: `  infer-prep bundle create --hf preprocessor_config.json --model model.onnx --golden cat.jpg -o cat.bundle
  infer-prep bundle create --preset imagenet --labels classes.txt --meta license=MIT -o net.bundle
  infer-prep run --bundle cat.bundle -o tensors photos/`,
		DisableFlagsInUseLine: true,
		Args:                  noArgs,
		ValidArgsFunction:     cobra.NoFileCompletions,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return a.createBundle(cmd, f) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "the bundle `FILE` to write")
	fl.StringArrayVar(&f.models, "model", nil, "put the model `FILE` in, under its own name: .onnx, .tflite or any other; may be given again")
	fl.StringVar(&f.labels, "labels", "", "the names of the model's classes: a text `FILE` with one on each line")
	fl.StringArrayVar(&f.meta, "meta", nil, "`NAME=VALUE` about the model; may be given again")
	fl.StringArrayVar(&f.goldens, "golden", nil, "make a golden sample of `IMAGE`; may be given again")
	fl.StringVar(&f.expect, "expect", "", "the tensors of the golden samples are in this folder `DIR`, as the training program saved them")
	fl.StringArrayVar(&f.sections, "section", nil, "put in any other file: `NAME=FILE`; may be given again")
	fl.StringVar(&f.least, "least", modelbundle.Exact, "the least exact `CLASS` of a device that may run the graph: exact, within1 or approximate")
	fl.StringArrayVar(&f.libraries, "library", nil, "`NAME=VERSION` of a library that training preprocessed with; may be given again (default those that version lists)")
	for _, n := range []string{"output", "model", "labels"} {
		noErr(cmd.MarkFlagFilename(n))
	}
	noErr(cmd.MarkFlagDirname("expect"))
	complete(cmd, "least", modelbundle.Exact, modelbundle.Within1, modelbundle.Approximate)
	return cmd
}

func (a *app) createBundle(cmd *cobra.Command, f *bundleCreateFlags) error {
	switch {
	case f.out == "":
		return usageErr("no bundle to write, want -o FILE")
	case f.expect != "" && len(f.goldens) == 0:
		return usageErr("--expect wants the images of its tensors: --golden")
	}
	g, err := f.load(cmd, a.stdin)
	if err != nil {
		return err
	}
	if _, err := f.compile(g); err != nil {
		return err
	}
	c := &modelbundle.Content{Graph: g, Least: f.least}
	if c.Meta, err = pairs("meta", f.meta); err != nil {
		return err
	}
	if c.Versions, err = pairs("library", f.libraries); err != nil {
		return err
	}
	if len(f.libraries) == 0 {
		for _, r := range references {
			c.Versions[r.Name] = r.Version
		}
	}
	files, err := pairs("section", f.sections)
	if err != nil {
		return err
	}
	c.Sections = map[string][]byte{}
	for name, file := range files {
		if c.Sections[name], err = readFile(file); err != nil {
			return err
		}
	}
	for _, m := range f.models {
		b, err := readFile(m)
		if err != nil {
			return err
		}
		c.Models = append(c.Models, modelbundle.Model{Name: filepath.Base(m), Format: modelFormat(m), Data: b})
	}
	if f.labels != "" {
		b, err := readFile(f.labels)
		if err != nil {
			return err
		}
		c.Labels = lines(string(b))
	}
	if err := f.addGoldens(cmd, c); err != nil {
		return err
	}
	if err := cmd.Context().Err(); err != nil {
		return &exitError{exitInterrupted, errors.New("interrupted: nothing was written")}
	}
	err = writeFile(f.out, func(w io.Writer) error { return modelbundle.Create(w, c) })
	if errors.Is(err, modelbundle.ErrContent) {
		return usageErr("%w", err)
	}
	return wrapFail(err)
}

func (f *bundleCreateFlags) addGoldens(cmd *cobra.Command, c *modelbundle.Content) error {
	l := expand(cmd.Context(), f.goldens, f.out)
	for _, in := range l.inputs {
		if in.err != nil {
			return failErr("--golden %w", in.err)
		}
		if !in.explicit && !isImage(in.path) {
			continue
		}
		if cmd.Context().Err() != nil {
			return nil // as the caller will see
		}
		t, err := readImage(in.path, f.limits)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(in.name)
		var s modelbundle.Golden
		if f.expect == "" {
			s, err = modelbundle.MakeGolden(c.Graph, name, t.Data, f.limits)
		} else {
			var outputs []tensor.Named
			if outputs, err = f.expected(c.Graph, in.name); err != nil {
				return failErr("%s: %w", in.path, err)
			}
			s, err = modelbundle.GoldenOf(c.Graph, name, t.Data, outputs)
		}
		if errors.Is(err, modelbundle.ErrContent) {
			return usageErr("%s: %w", in.path, err)
		}
		if err != nil {
			return failErr("%s: %w", in.path, err)
		}
		c.Goldens = append(c.Goldens, s)
	}
	if len(f.goldens) > 0 && len(c.Goldens) == 0 && cmd.Context().Err() == nil {
		return failErr("--golden: no images found")
	}
	return nil
}

// expected reads the tensors that training made of the image called name.
func (f *bundleCreateFlags) expected(g *datagraph.Graph, name string) (l []tensor.Named, err error) {
	bare := strings.TrimSuffix(name, filepath.Ext(name))
	for i, o := range slices.Concat(g.Outputs, g.SideOutputs) {
		files := []string{name + "." + o, bare + "." + o}
		if i == 0 {
			files = append(files, name, bare)
		}
		for _, n := range files {
			path := filepath.Join(f.expect, n+".npy")
			file, err := os.Open(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, plain(path, err)
			}
			limit := f.limits.Bytes
			if limit == 0 {
				limit = math.MaxInt64
			}
			t, err := tensor.ReadNPY(file, limit)
			if err = errors.Join(err, file.Close()); err != nil {
				return nil, plain(path, err)
			}
			l = append(l, tensor.Named{Name: o, T: t})
			break
		}
	}
	if len(l) == 0 {
		return nil, fmt.Errorf("no tensor in %s: want %s.npy, or %s.npy", f.expect, filepath.ToSlash(name), filepath.ToSlash(bare))
	}
	return l, nil
}

// readFile reads a file that the user named, whatever its size.
func readFile(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	return b, wrapFail(plain(path, err))
}

// modelFormat tells a model's format by its file's name.
func modelFormat(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".onnx":
		return "onnx"
	case ".tflite", ".lite":
		return "tflite"
	}
	return "other"
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// lines are those of a text, whether or not the last one is ended.
func lines(s string) []string {
	s = strings.TrimPrefix(strings.ReplaceAll(s, "\r\n", "\n"), "\ufeff")
	if s = strings.TrimSuffix(s, "\n"); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func (a *app) bundleLsCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls FILE",
		Short: "List what is in a bundle",
		Long: `List what a bundle was made with, its sections with their sizes in bytes and
SHA-256, and its golden samples. Models and golden samples are not read: bundle
verify does that.`,
		DisableFlagsInUseLine: true,
		Args:                  bundleArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := openBundle(args[0], codec.DefaultLimits())
			if err != nil {
				return err
			}
			list := describeBundle(b)
			if err := b.Close(); err != nil {
				return wrapFail(plain(args[0], err))
			}
			if asJSON {
				return a.printJSON(list)
			}
			return a.printBundle(list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// bundleJSON is a bundle as --json tells it.
type bundleJSON struct {
	Reference string            `json:"reference"`
	Libraries map[string]string `json:"libraries"`
	Least     string            `json:"least"`
	Digest    string            `json:"digest"`
	SignedBy  string            `json:"signed_by,omitempty"`
	Labels    int               `json:"labels"`
	Meta      map[string]string `json:"meta"`
	Sections  []sectionJSON     `json:"sections"`
	Goldens   []goldenJSON      `json:"golden_samples"`
}

type sectionJSON struct {
	Name   string `json:"name"`
	Format string `json:"format,omitempty"`
	Offset int64  `json:"offset"`
	Size   int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

type goldenJSON struct {
	Name    string         `json:"name"`
	Outputs []expectedJSON `json:"outputs"`
}

type expectedJSON struct {
	Name string `json:"name"`
	tensor.Desc
	SHA256 string `json:"sha256"`
}

func describeBundle(b *modelbundle.Bundle) *bundleJSON {
	l := &bundleJSON{
		Reference: b.Reference(), Libraries: b.Versions(), Least: b.Least(), Digest: fmt.Sprintf("%x", b.Digest()),
		Labels: len(b.Labels()), Meta: b.Meta(), Sections: []sectionJSON{}, Goldens: []goldenJSON{},
	}
	if k := b.Signer(); k != nil {
		l.SignedBy = modelbundle.KeyID(k)
	}
	if l.Meta == nil {
		l.Meta = map[string]string{}
	}
	for _, s := range b.Sections() {
		l.Sections = append(l.Sections, sectionJSON{s.Name, s.Format, s.Offset, s.Size, fmt.Sprintf("%x", s.SHA256)})
	}
	for _, g := range b.Expected() {
		j := goldenJSON{Name: g.Name}
		for _, e := range g.Outputs {
			j.Outputs = append(j.Outputs, expectedJSON{e.Name, e.Desc, fmt.Sprintf("%x", e.SHA256)})
		}
		l.Goldens = append(l.Goldens, j)
	}
	return l
}

func (a *app) printBundle(l *bundleJSON) error {
	head := table{}
	row := func(name, value string) { head.row(name, printable(value)) }
	if l.Reference != "" {
		row("reproduces", l.Reference)
	}
	for _, k := range sortedKeys(l.Libraries) {
		row("made with", k+" "+l.Libraries[k])
	}
	row("least class", l.Least)
	if l.SignedBy != "" {
		row("signed by", l.SignedBy+" (not checked)")
	}
	if l.Labels > 0 {
		row("labels", fmt.Sprint(l.Labels))
	}
	for _, k := range sortedKeys(l.Meta) {
		head.row(printable(k), printable(l.Meta[k]))
	}
	if err := head.write(a.stdout); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.stdout); err != nil {
		return err
	}
	t := table{}
	t.row("section", "format", "bytes", "sha256")
	for _, s := range l.Sections {
		t.row(printable(s.Name), s.Format, fmt.Sprint(s.Size), s.SHA256)
	}
	if err := t.write(a.stdout); err != nil || len(l.Goldens) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(a.stdout); err != nil {
		return err
	}
	t = table{}
	t.row("golden sample", "output", "is", "sha256")
	for _, g := range l.Goldens {
		for _, e := range g.Outputs {
			t.row(printable(g.Name), printable(e.Name), e.Desc.String(), e.SHA256)
		}
	}
	return t.write(a.stdout)
}

func (a *app) bundleCatCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "cat [-o FILE] BUNDLE SECTION",
		Short: "Print a section of a bundle",
		Long: `Print a section of a bundle, once its digest is known to be right. The graph is
printed in its binary form; graph import --bundle prints it as JSON. The section
called manifest is what the bundle says of the others, and what is signed.`,
		Example: `  infer-prep bundle cat cat.bundle model/model.onnx -o model.onnx
  infer-prep bundle cat cat.bundle labels`,
		DisableFlagsInUseLine: true,
		Args:                  bundleArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (l []string, _ cobra.ShellCompDirective) {
			if len(args) != 1 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			if b, err := openBundle(args[0], codec.DefaultLimits()); err == nil {
				for _, s := range b.Sections() {
					l = append(l, s.Name)
				}
				_ = b.Close() // nothing was written
			}
			return l, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := openBundle(args[0], codec.DefaultLimits())
			if err != nil {
				return err
			}
			data, err := b.Section(args[1])
			if err == nil {
				if out == "" {
					_, err = a.stdout.Write(data)
				} else {
					err = writeFile(out, func(w io.Writer) error {
						_, err := w.Write(data)
						return err
					})
				}
			}
			if err := errors.Join(err, b.Close()); err != nil {
				return failErr("%s: %w", args[0], err)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `FILE` and not to standard output")
	noErr(cmd.MarkFlagFilename("output"))
	return cmd
}
