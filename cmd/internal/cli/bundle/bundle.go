// Package bundle implements the commands of model bundles.
package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func Command(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Create, inspect, verify and sign model bundles",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "run" || args[0] == "diff") {
				return command.UsageErr("unknown command %q of bundle: want \"%s %s --bundle FILE\"", args[0], command.Program, args[0])
			}
			return command.OneOfCommands(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(bundleCreateCmd(a), bundleLsCmd(a), bundleCatCmd(a), bundleVerifyCmd(a), bundleSignCmd(a), bundleEmbedONNXCmd(a))
	return cmd
}

// oneBundle requires one argument.
func oneBundle(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return command.UsageErr("%s: want a bundle, got %s", command.CommandName(cmd), command.Plural(len(args), "argument"))
	}
	return nil
}

// sectionNames lists what bundle cat prints.
func sectionNames(b *modelbundle.Bundle) []string {
	l := []string{"manifest"}
	for _, s := range b.Sections() {
		l = append(l, s.Name)
	}
	slices.Sort(l)
	return l
}

// noSection adds the names of the bundle's sections to an error about a section
// that the bundle does not have.
func noSection(b *modelbundle.Bundle, name string, err error) error {
	if !errors.Is(err, modelbundle.ErrNoSection) {
		return err
	}
	const most = 12
	l, more := sectionNames(b), ""
	hint := registry.DidYouMean(name, l)
	if len(l) > most {
		l, more = l[:most], fmt.Sprintf(" and %d more, which \"bundle cat BUNDLE\" lists", len(l)-most)
	}
	return fmt.Errorf("%w: want %s%s%s", err, strings.Join(l, ", "), more, hint)
}

type bundleCreateFlags struct {
	source.GraphFlags
	fitFlags
	outside                                    command.Outside
	out, labels, least, expect                 string
	models, meta, goldens, sections, libraries []string
}

func bundleCreateCmd(a *command.App) *cobra.Command {
	f := &bundleCreateFlags{}
	cmd := &cobra.Command{
		Use:                   "create [--preset NAME | --graph FILE | --hf FILE | …] -o FILE",
		Short:                 "Create a bundle of a graph, a model and golden samples",
		DisableFlagsInUseLine: true,
		Args:                  command.NoArgs,
		ValidArgsFunction:     cobra.NoFileCompletions,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return createBundle(a, cmd, f) },
	}
	f.GraphFlags.Add(cmd)
	f.fitFlags.add(cmd)
	f.outside.Add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write the bundle to `FILE`")
	fl.StringArrayVar(&f.models, "model", nil, "add the model `FILE` under its own name: .onnx, .tflite or any other; repeatable")
	fl.StringVar(&f.labels, "labels", "", "add the names of the model's classes from a text `FILE`, one a line")
	fl.StringArrayVar(&f.meta, "meta", nil, "add the metadata `NAME=VALUE`; repeatable")
	fl.StringArrayVar(&f.goldens, "golden", nil, "add a golden sample of the image or sound in `FILE`; repeatable")
	fl.StringVar(&f.expect, "expect", "", "read the tensors of the golden samples from `DIR`, as the training program saved them")
	fl.StringArrayVar(&f.sections, "section", nil, "add any other file as a section, `NAME=FILE`; repeatable")
	fl.StringVar(&f.least, "least", modelbundle.Exact, "require this `CLASS` of devices that run the graph: exact, within1 or approximate")
	fl.StringArrayVar(&f.libraries, "library", nil, "record `NAME=VERSION` of a library that training preprocessed with; repeatable (default those that the graph reproduces, of those that the version command lists)")
	for _, n := range []string{"output", "model", "labels"} {
		command.Must(cmd.MarkFlagFilename(n))
	}
	command.Must(cmd.MarkFlagDirname("expect"))
	command.Complete(cmd, "least", modelbundle.Exact, modelbundle.Within1, modelbundle.Approximate)
	return cmd
}

func createBundle(a *command.App, cmd *cobra.Command, f *bundleCreateFlags) error {
	switch {
	case f.out == "":
		return command.UsageErr("no output file: want -o FILE")
	case f.expect != "" && len(f.goldens) == 0:
		return command.UsageErr("--expect needs --golden, the images of its tensors")
	}
	g, err := f.Load(cmd, a.Stdin)
	if err != nil {
		return err
	}
	if err := f.renameOutputs(g); err != nil {
		return err
	}
	if _, err := f.Compile(g); err != nil {
		return err
	}
	c := &modelbundle.Content{Graph: g, Least: f.least}
	if c.Meta, err = command.Pairs("meta", f.meta); err != nil {
		return err
	}
	if c.Versions, err = command.Pairs("library", f.libraries); err != nil {
		return err
	}
	if len(f.libraries) == 0 {
		c.Versions = graphLibraries(g)
	}
	files, err := command.Pairs("section", f.sections)
	if err != nil {
		return err
	}
	c.Sections = map[string][]byte{}
	for name, file := range files {
		if c.Sections[name], err = readFile(cmd.Context(), file); err != nil {
			return err
		}
	}
	for _, m := range f.models {
		b, err := readFile(cmd.Context(), m)
		if err != nil {
			return err
		}
		c.Models = append(c.Models, modelbundle.Model{Name: store.Base(m), Format: modelFormat(m), Data: b})
	}
	if f.labels != "" {
		b, err := readFile(cmd.Context(), f.labels)
		if err != nil {
			return err
		}
		if b, err = bom.Cut(b); err != nil {
			return command.FailErr("--labels %s: %w", f.labels, err)
		}
		c.Labels = lines(string(b))
	}
	if err := f.fits(c); err != nil {
		return err
	}
	if err := f.addGoldens(cmd, c); err != nil {
		return err
	}
	if err := cmd.Context().Err(); err != nil {
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: nothing was written")}
	}
	err = newfile.Write(cmd.Context(), f.out, func(w io.Writer) error { return modelbundle.Create(w, c) })
	if errors.Is(err, modelbundle.ErrContent) {
		return command.UsageErr("%w", err)
	}
	return command.WrapFail(err)
}

func (f *bundleCreateFlags) addGoldens(cmd *cobra.Command, c *modelbundle.Content) error {
	l := job.Find(cmd.Context(), f.outside.Files(), job.Paths(f.goldens...), f.out)
	defer l.Close()
	l.For(c.Graph)
	for _, in := range l.Files {
		if in.Err != nil {
			return command.FailErr("--golden %w", in.Err)
		}
		if !in.Explicit && !in.IsImage(cmd.Context()) {
			continue
		}
		if cmd.Context().Err() != nil {
			return nil // the caller checks the context
		}
		t, err := source.ReadImage(cmd, &in, f.Limits)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(in.Name)
		var s modelbundle.Golden
		if f.expect == "" {
			s, err = modelbundle.MakeGolden(c.Graph, name, t.Data, f.Limits)
		} else {
			var outputs []tensor.Named
			if outputs, err = f.expected(c.Graph, in.Name); err != nil {
				return command.FailErr("%s: %w", in.Path, err)
			}
			if s, err = modelbundle.GoldenOf(c.Graph, name, t.Data, outputs); err == nil {
				err = f.proves(cmd.Context(), c.Graph, &s, outputs)
			}
		}
		if errors.Is(err, modelbundle.ErrContent) {
			return command.UsageErr("%s: %w", in.Path, err)
		}
		if err != nil {
			return command.FailErr("%s: %w", in.Path, err)
		}
		c.Goldens = append(c.Goldens, s)
	}
	if len(f.goldens) > 0 && len(c.Goldens) == 0 && cmd.Context().Err() == nil {
		return command.FailErr("--golden: no %ss found", job.Noun(c.Graph))
	}
	return nil
}

// expected reads the tensors that the training program saved for an image.
func (f *bundleCreateFlags) expected(g *datagraph.Graph, name string) (l []tensor.Named, err error) {
	bare := strings.TrimSuffix(name, filepath.Ext(name))
	for i, o := range slices.Concat(g.Outputs, g.SideOutputs) {
		files := []string{name + "." + o, bare + "." + o}
		if i == 0 {
			files = append(files, name, bare)
		}
		for _, n := range files {
			path := filepath.Join(f.expect, n+".npy")
			file, _, err := store.OpenRegular(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, paths.Error(path, err)
			}
			limit := f.Limits.Bytes
			if limit <= 0 {
				limit = math.MaxInt64
			}
			t, err := tensor.ReadNPY(file, limit)
			if err = errors.Join(err, file.Close()); err != nil {
				return nil, paths.Error(path, err)
			}
			l = append(l, tensor.Named{Name: o, T: t})
			break
		}
	}
	if len(l) == 0 {
		return nil, fmt.Errorf("no tensor in %s: want %s.npy or %s.npy", f.expect, filepath.ToSlash(name), filepath.ToSlash(bare))
	}
	return l, nil
}

// readFile reads a file of any size that the user named.
func readFile(ctx context.Context, path string) ([]byte, error) {
	b, err := source.ReadSmall(ctx, path, nil, math.MaxInt64-1)
	return b, command.WrapFail(err)
}

// modelFormat returns the format of a model by its file's extension.
func modelFormat(path string) string {
	switch strings.ToLower(filepath.Ext(store.Path(path))) {
	case ".onnx":
		return "onnx"
	case ".tflite", ".lite":
		return "tflite"
	}
	return "other"
}

func SortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// lines splits a text into lines. The last one may lack its newline.
func lines(s string) []string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if s = strings.TrimSuffix(s, "\n"); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func bundleLsCmd(a *command.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "ls FILE",
		Short:                 "List the content of a bundle",
		DisableFlagsInUseLine: true,
		Args:                  oneBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := source.OpenBundle(cmd.Context(), args[0], codec.DefaultLimits())
			if err != nil {
				return err
			}
			list := describeBundle(b)
			if err := b.Close(); err != nil {
				return command.WrapFail(paths.Error(args[0], err))
			}
			if asJSON {
				return a.PrintJSON(list)
			}
			return printBundle(a, list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// BundleJSON is a bundle as --json prints it.
type BundleJSON struct {
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

func describeBundle(b *modelbundle.Bundle) *BundleJSON {
	l := &BundleJSON{
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

func printBundle(a *command.App, l *BundleJSON) error {
	head := command.Table{}
	row := func(name, value string) { head.Row(name, command.Printable(value)) }
	if l.Reference != "" {
		row("reproduces", l.Reference)
	}
	for _, k := range SortedKeys(l.Libraries) {
		row("made with", k+" "+l.Libraries[k])
	}
	row("least class", l.Least)
	if l.SignedBy != "" {
		row("signed by", l.SignedBy+" (not checked)")
	}
	if l.Labels > 0 {
		row("labels", fmt.Sprint(l.Labels))
	}
	for _, k := range SortedKeys(l.Meta) {
		head.Row(command.Printable(k), command.Printable(l.Meta[k]))
	}
	if err := head.Write(a.Stdout); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.Stdout); err != nil {
		return err
	}
	t := command.Table{}
	t.Row("section", "format", "bytes", "sha256")
	for _, s := range l.Sections {
		t.Row(command.Printable(s.Name), s.Format, fmt.Sprint(s.Size), s.SHA256)
	}
	if err := t.Write(a.Stdout); err != nil || len(l.Goldens) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(a.Stdout); err != nil {
		return err
	}
	t = command.Table{}
	t.Row("golden sample", "output", "is", "sha256")
	for _, g := range l.Goldens {
		for _, e := range g.Outputs {
			t.Row(command.Printable(g.Name), command.Printable(e.Name), e.Desc.String(), e.SHA256)
		}
	}
	return t.Write(a.Stdout)
}

func bundleCatCmd(a *command.App) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:                   "cat [-o FILE] BUNDLE [SECTION]",
		Short:                 "Print a section of a bundle, or the names of its sections",
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return command.UsageErr("%s: want a bundle and the name of a section, got %s", command.CommandName(cmd), command.Plural(len(args), "argument"))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (l []string, _ cobra.ShellCompDirective) {
			if len(args) != 1 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			if b, err := source.OpenBundle(cmd.Context(), args[0], codec.DefaultLimits()); err == nil {
				l = sectionNames(b)
				_ = b.Close() // nothing was written
			}
			return l, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := source.OpenBundle(cmd.Context(), args[0], codec.DefaultLimits())
			if err != nil {
				return err
			}
			var data []byte
			if len(args) == 1 {
				data = []byte(strings.Join(sectionNames(b), "\n") + "\n")
			} else if data, err = b.Section(args[1]); err != nil {
				err = noSection(b, args[1], err)
			}
			if err == nil {
				if out == "" {
					_, err = a.Stdout.Write(data)
				} else {
					err = newfile.Write(cmd.Context(), out, func(w io.Writer) error {
						_, err := w.Write(data)
						return err
					})
				}
			}
			if err := errors.Join(err, b.Close()); err != nil {
				return command.FailErr("%s: %w", args[0], err)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of standard output")
	command.Must(cmd.MarkFlagFilename("output"))
	return cmd
}
