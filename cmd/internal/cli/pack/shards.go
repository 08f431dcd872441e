package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/store"
)

type packShardsFlags struct {
	packFlags
	source.GraphFlags
	pack.Shards
	kaldi           pack.KaldiOptions
	out             string
	bytes           command.Count
	scripts, labels []string
	groups          []string
	classes         bool
	root            string
	list            string
	graph           *datagraph.Graph // makes tensors of the samples; nil for none
}

func packShardsCmd(a *command.App) *cobra.Command {
	f := &packShardsFlags{bytes: 3e9}
	cmd := &cobra.Command{
		Use:                   "shards -o DIR [flags] (FOLDER | LIST.lst | --scp FILE...)",
		Short:                 "Pack files, or Kaldi features and waves, into tar shards for webdataset",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			n := command.FirstChanged(cmd, imageFlags...)
			if n == "" {
				f.image.Encoding = pack.PassThrough
				n = command.FirstChanged(cmd, "check", "lossless-fast")
			} else if f.image.Check {
				return command.UsageErr("--check applies to images that are packed unchanged, but --%s changes them", n)
			}
			graph, err := f.checkGraph(cmd, &f.GraphFlags)
			if err != nil {
				return err
			}
			if graph != "" {
				f.graph, err = loadGraph(a, cmd, &f.GraphFlags)
			}
			if err != nil {
				return err
			}
			if n != "" && (len(f.scripts) > 0 || !f.classes && len(args) == 1 && !strings.HasSuffix(store.Path(args[0]), ".lst")) {
				return command.UsageErr("--%s applies to labeled images: want --classes or a list", n)
			}
			return packShards(cmd.Context(), a, f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write the shards to the folder `DIR`")
	fl.StringVar(&f.Name, "name", "data-%05d.tar", "`NAME` of the shards, with %d or %05d for the number")
	fl.IntVar(&f.Count, "samples-per-file", 2000, "write at most `N` samples to a shard")
	fl.Var(&f.bytes, "bytes-per-file", "end a shard once its samples have that many `BYTES`")
	fl.BoolVar(&f.Index, "index", false, "write the index of every shard beside it")
	fl.StringVar(&f.list, "list", "", "write the names of the shards to `FILE`")
	fl.BoolVar(&f.classes, "classes", false, "treat the folders in FOLDER as classes of images")
	fl.StringVar(&f.root, "root", "", "read the list's images from the folder `DIR`")
	fl.Lookup("root").DefValue = "the list's folder"
	fl.StringArrayVar(&f.scripts, "scp", nil, "pack the script `[FIELD=]FILE`; the default field is mat.npy; repeatable")
	fl.StringArrayVar(&f.labels, "label", nil, "add the texts of `[FIELD=]FILE`, lines of a key and a text; the default field is label.txt; repeatable")
	fl.StringVar(&f.kaldi.Segments, "segments", "", "take the samples from parts of the recordings in the script of the field wav; `FILE` lists the parts")
	fl.StringVar(&f.kaldi.Lengths, "lengths", "", "read the lengths from `FILE`, lines of a key and a length")
	fl.StringSliceVar(&f.groups, "groups", nil, "pack samples of these lengths, `FROM:TO,...`, in groups")
	fl.BoolVar(&f.Sort, "sort", false, "sort the samples by key")
	fl.BoolVar(&f.Shuffle, "shuffle", false, "shuffle the samples")
	fl.Uint64Var(&f.Seed, "seed", 0, "use the seed `N` for --shuffle")
	fl.Float64Var(&f.Train, "train-ratio", 1, "`PART` of the samples for DIR/train; those in neither part go to DIR/val")
	fl.Float64Var(&f.Test, "test-ratio", 0, "`PART` of the samples for DIR/test")
	f.add(cmd)
	f.GraphFlags.Add(cmd)
	command.Must(cmd.MarkFlagDirname("output"))
	command.Must(cmd.MarkFlagDirname("root"))
	for _, n := range []string{"list", "scp", "label", "segments", "lengths"} {
		command.Must(cmd.MarkFlagFilename(n))
	}
	return cmd
}

// samples finds the samples to pack.
func (f *packShardsFlags) samples(ctx context.Context, args []string) (*pack.Samples, error) {
	if len(f.scripts) > 0 {
		if len(args) > 0 || f.classes || f.root != "" {
			return nil, command.UsageErr("--scp excludes a folder or list, --classes and --root")
		}
		for _, l := range []struct {
			flag   string
			values []string
			parse  func(string) (pack.KaldiFile, error)
			to     *[]pack.KaldiFile
		}{{"scp", f.scripts, pack.ParseScript, &f.kaldi.Scripts}, {"label", f.labels, pack.ParseLabels, &f.kaldi.Labels}} {
			for _, v := range l.values {
				k, err := l.parse(v)
				if err != nil {
					return nil, command.UsageErr("--%s: %w", l.flag, err)
				}
				*l.to = append(*l.to, k)
			}
		}
		f.kaldi.Store = store.URI
		s, err := pack.KaldiSamples(ctx, f.kaldi)
		return s, command.WrapFail(paths.ErrorOf(err))
	}
	if len(f.labels) > 0 || f.kaldi.Segments != "" || f.kaldi.Lengths != "" {
		return nil, command.UsageErr("--label, --segments and --lengths need --scp")
	}
	if len(f.groups) > 0 && f.graph == nil {
		return nil, command.UsageErr("--groups needs --scp, or --graph or a similar flag")
	}
	if len(args) != 1 {
		return nil, command.UsageErr("got %s, want a folder, a list or --scp", command.Plural(len(args), "argument"))
	}
	from := paths.StoreName(paths.TrimFile(args[0]))
	info, err := store.URI.Stat(ctx, from)
	var s *pack.Samples
	switch {
	case err != nil:
		return nil, command.WrapFail(paths.Error(args[0], err))
	case info.Folder && f.root != "":
		return nil, command.UsageErr("--root applies to a list, but %s is a folder", args[0])
	case info.Folder && f.classes:
		s, err = pack.ClassSamples(ctx, f.outside.Files(), from, f.out, f.image)
	case info.Folder:
		s, err = pack.FolderSamples(ctx, f.outside.Files(), from, f.out)
	case f.classes:
		return nil, command.UsageErr("--classes applies to a folder, but %s is a file", args[0])
	case !strings.HasSuffix(store.Path(from), ".lst"):
		return nil, command.UsageErr("%s: want a folder, or a list with the extension .lst", args[0])
	default:
		if f.root == "" {
			f.root = store.Dir(from)
		}
		s, err = pack.ListSamples(ctx, f.outside.Files(), from, paths.StoreName(paths.TrimFile(f.root)), f.image)
	}
	return s, command.WrapFail(paths.ErrorOf(err))
}

func packShards(ctx context.Context, a *command.App, f *packShardsFlags, args []string) (err error) {
	switch {
	case f.out == "":
		return command.UsageErr("no output folder: want -o DIR")
	case paths.IsURI(f.out) && paths.TrimFile(f.out) == f.out:
		return packToStore("-o " + f.out)
	case f.Count < 1 || f.bytes < 1:
		return command.UsageErr("--samples-per-file %d, --bytes-per-file %d: want at least 1", f.Count, int64(f.bytes))
	}
	f.out = paths.TrimFile(f.out)
	f.image.Limits = f.Limits
	f.Size, f.Workers, f.Force, f.Restart = int64(f.bytes), f.jobs, f.force, f.restart
	for _, s := range f.groups {
		g, err := pack.ParseGroup(s)
		if err != nil {
			return command.UsageErr("--groups: %w", err)
		}
		f.Groups = append(f.Groups, g)
	}
	if f.list != "" && !paths.IsURI(f.list) { // fail before the work, not after it
		if info, err := os.Stat(filepath.Dir(f.list)); err != nil || !info.IsDir() {
			return command.FailErr("--list %s: %s is not a folder", f.list, filepath.Dir(f.list))
		}
	}
	s, err := f.samples(ctx, args)
	if ctx.Err() != nil {
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: nothing was done")}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, command.WrapFail(s.Close())) }()
	if f.graph != nil {
		if s, err = s.Transform(f.graph, f.Limits); err != nil {
			return command.UsageErr("%w", err)
		}
	}
	f.Samples, f.Dir = s, f.out
	if err := f.Validate(); err != nil {
		return command.UsageErr("%w", err)
	}
	if s.Len() == 0 && len(s.Invalid) == 0 {
		return command.FailErr("%s: nothing to pack", strings.Join(append(args, f.scripts...), ", "))
	}
	bar := &command.Progress{}
	done := 0
	f.Progress = func(n, total int) {
		if bar.W == nil {
			bar = command.NewProgress(a.Stderr, total, f.quiet)
		}
		for ; done < n; done++ {
			bar.Step()
		}
	}
	var outside command.Outsiders
	if f.bad == "skip" {
		f.OnError = pack.SkipOnError
		f.OnSkip = func(err error) {
			if !outside.Add(err) {
				bar.Clear()
				a.Complain(err)
			}
		}
	}
	defer collectLess(&f.image)()
	r, err := f.Run(ctx)
	bar.Clear()
	outside.Say(a)
	if err != nil {
		if f.bad == "fail" && errors.Is(err, pack.ErrSample) {
			err = fmt.Errorf("%w; --bad skip continues without it", err)
		}
		return unpacked(ctx, err, r.Samples, command.Plural(s.Len(), "sample"))
	}
	var b strings.Builder
	for _, s := range r.Shards {
		fmt.Fprintln(&b, s.Name)
	}
	if f.list != "" {
		err = newfile.Write(ctx, f.list, func(w io.Writer) error {
			_, err := io.WriteString(w, b.String())
			return err
		})
	} else {
		_, err = io.WriteString(a.Stdout, b.String())
	}
	if err != nil {
		return err
	}
	if !f.quiet {
		packedShards(a, r, s)
	}
	if r.Skipped > 0 {
		return &command.ExitError{Status: command.ExitFailed}
	}
	return nil
}

// packedShards prints what was packed and what was not.
func packedShards(a *command.App, r *pack.ShardsReport, s *pack.Samples) {
	say := fmt.Sprintf("%s with %s", command.Plural(len(r.Shards), "shard"), command.Plural(r.Samples, "sample"))
	if r.Resumed > 0 {
		say += fmt.Sprintf(", %d packed before", r.Resumed)
	}
	such := func(l []string) string {
		if len(l) == 1 {
			return l[0]
		}
		return fmt.Sprintf("%d, such as %s", len(l), l[0])
	}
	if len(r.Outside) > 0 {
		say += "; in no group: " + such(r.Outside)
	}
	if len(s.LeftOut) > 0 {
		say += "; in no sample: " + such(s.LeftOut)
	}
	if r.Skipped > 0 {
		say += fmt.Sprintf("; %d could not be packed", r.Skipped)
	}
	a.Complain(errors.New(say))
	a.SayStore()
}
