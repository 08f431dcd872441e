package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/pack"
)

type packShardsFlags struct {
	packFlags
	pack.Shards
	kaldi           pack.KaldiOptions
	out             string
	bytes           count
	scripts, labels []string
	groups          []string
	classes         bool
	root            string
	list            string
}

func (a *app) packShardsCmd() *cobra.Command {
	f := &packShardsFlags{bytes: 3e9}
	cmd := &cobra.Command{
		Use:   "shards -o DIR [flags] (FOLDER | LIST.lst | --scp FILE...)",
		Short: "Pack files, or Kaldi's features and waves, into tar shards for webdataset",
		Long: `Pack samples into tar files, as webdataset reads them: DIR/data-00000.tar and so on,
of 2000 samples each. The names of the shards are printed, or written to --list.

  FOLDER             files with the same path up to the first dot of their names are
                     a sample: a.jpg, a.cls, a.json
  FOLDER --classes   images in a folder for each class: the sample cat/001 has its image
                     and the class's number as cls; classes.txt has the names
  LIST.lst           images of an im2rec list, below --root: one label that is a whole
                     number as cls, others as a list in json
  --scp, --label     Kaldi's scripts and lines of text, as pack_data takes them

Files are packed as they are, unless --encoding, --resize or the like say that images with labels are
to be changed, as pack recordio changes them. Of a script the field mat.npy is an array of float32 in
NumPy's format, and its lines' ranges are cut out; any other field has the bytes of
the object, or of the file where the script names a file alone. Scripts are read as Kaldi
reads them, but commands (a pipe at the end of a line) are refused. Several scripts, or files of
labels, of one field are one after another; every sample has all fields.

--groups divides samples by their length, a number of frames: FROM:TO are those of FROM
or more and less than TO, which go into the folder DIR/FROM_TO if there are several
groups. What is in none is not packed. The length is that of the first script's object (of a
wave its samples), or in --lengths, such as utt2num_frames or utt2dur.

Samples are read by --jobs workers and written in order: the bytes do not depend on the
number of workers, or the time. What cannot be packed is named and left out, unless
--bad fail is given. A name that ends in .tar.gz or .tar.zst has the shards compressed. A
pack that was interrupted or killed goes on behind its last whole shard when the same command is
given again; DIR/NAME.pack notes how far it is, and is gone in the end.

Exit status: 0 all done; 1 something could not be packed, and is named; 2 a wrong flag;
130 interrupted.`,
		Example: `  infer-prep pack shards -o shards photos/
  infer-prep pack shards -o shards --classes --shuffle --train-ratio 0.9 imagenet/train
  infer-prep pack shards -o shards --name 'train-%06d.tar.zst' --root photos train.lst
  infer-prep pack shards -o data --scp feats.scp --label text --groups 10:500,500:800,800:1000
  infer-prep pack shards -o data --scp wav=wav.scp --label txt=text --segments segments --samples-per-file 1000 --list data.list`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if n := changed(cmd, imageFlags); n == "" {
				f.image.Encoding = pack.PassThrough
			} else if len(f.scripts) > 0 || !f.classes && len(args) == 1 && !strings.HasSuffix(args[0], ".lst") {
				return usageErr("--%s is for images with labels: want --classes or a list", n)
			}
			return a.packShards(cmd.Context(), f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "the folder `DIR` that the shards are written to")
	fl.StringVar(&f.Name, "name", "data-%05d.tar", "`NAME` of the shards, with %d or %05d for the number")
	fl.IntVar(&f.Count, "samples-per-file", 2000, "the most samples of a shard")
	fl.Var(&f.bytes, "bytes-per-file", "end a shard when its samples have that many `BYTES`")
	fl.BoolVar(&f.Index, "index", false, "write the index of every shard beside it")
	fl.StringVar(&f.list, "list", "", "write the names of the shards to `FILE`")
	fl.BoolVar(&f.classes, "classes", false, "the folders in FOLDER are classes of images")
	fl.StringVar(&f.root, "root", "", "the folder `DIR` of the list's images")
	fl.Lookup("root").DefValue = "the list's own"
	fl.StringArrayVar(&f.scripts, "scp", nil, "a script, `[FIELD=]FILE`; the field is mat.npy unless it is said")
	fl.StringArrayVar(&f.labels, "label", nil, "lines of a key and a text, `[FIELD=]FILE`; the field is label.txt unless it is said")
	fl.StringVar(&f.kaldi.Segments, "segments", "", "the script of the field wav has recordings, and this `FILE` their parts that are the samples")
	fl.StringVar(&f.kaldi.Lengths, "lengths", "", "lines of a key and its length in `FILE`")
	fl.StringSliceVar(&f.groups, "groups", nil, "pack samples of these lengths, `FROM:TO,...`, in groups")
	fl.BoolVar(&f.Sort, "sort", false, "pack in the order of the keys")
	fl.BoolVar(&f.Shuffle, "shuffle", false, "pack in random order")
	fl.Uint64Var(&f.Seed, "seed", 0, "seed of the random order")
	fl.Float64Var(&f.Train, "train-ratio", 1, "part of the samples that go into DIR/train; those that are left go into DIR/val")
	fl.Float64Var(&f.Test, "test-ratio", 0, "part of the samples that go into DIR/test")
	f.add(cmd)
	noErr(cmd.MarkFlagDirname("output"))
	noErr(cmd.MarkFlagDirname("root"))
	for _, n := range []string{"list", "scp", "label", "segments", "lengths"} {
		noErr(cmd.MarkFlagFilename(n))
	}
	return cmd
}

// samples finds what is to be packed.
func (f *packShardsFlags) samples(ctx context.Context, args []string) (*pack.Samples, error) {
	if len(f.scripts) > 0 {
		if len(args) > 0 || f.classes || f.root != "" {
			return nil, usageErr("--scp is what is packed: want no folder or list beside it, nor --classes or --root")
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
					return nil, usageErr("--%s: %w", l.flag, err)
				}
				*l.to = append(*l.to, k)
			}
		}
		s, err := pack.KaldiSamples(ctx, f.kaldi)
		return s, wrapFail(ofFile(err))
	}
	if len(f.labels) > 0 || f.kaldi.Segments != "" || f.kaldi.Lengths != "" || len(f.groups) > 0 {
		return nil, usageErr("--label, --segments, --lengths and --groups are for --scp")
	}
	if len(args) != 1 {
		return nil, usageErr("got %s, want a folder, a list, or --scp", plural(len(args), "argument"))
	}
	info, err := os.Stat(args[0])
	var s *pack.Samples
	switch {
	case err != nil:
		return nil, wrapFail(plain(args[0], err))
	case info.IsDir() && f.root != "":
		return nil, usageErr("--root is for a list, %s is a folder", args[0])
	case info.IsDir() && f.classes:
		s, err = pack.ClassSamples(ctx, args[0], f.out, f.image)
	case info.IsDir():
		s, err = pack.FolderSamples(ctx, args[0], f.out)
	case f.classes:
		return nil, usageErr("--classes is for a folder, %s is none", args[0])
	case !strings.HasSuffix(args[0], ".lst"):
		return nil, usageErr("%s: want a folder or a list, whose name ends in .lst", args[0])
	default:
		if f.root == "" {
			f.root = filepath.Dir(args[0])
		}
		s, err = pack.ListSamples(ctx, args[0], f.root, f.image)
	}
	return s, wrapFail(ofFile(err))
}

func (a *app) packShards(ctx context.Context, f *packShardsFlags, args []string) (err error) {
	switch {
	case f.out == "":
		return usageErr("no folder to write to, want -o DIR")
	case f.Count < 1 || f.bytes < 1:
		return usageErr("--samples-per-file %d and --bytes-per-file %d, want at least 1", f.Count, int64(f.bytes))
	}
	f.Size, f.Workers, f.Force, f.Restart = int64(f.bytes), f.jobs, f.force, f.restart
	for _, s := range f.groups {
		g, err := pack.ParseGroup(s)
		if err != nil {
			return usageErr("--groups: %w", err)
		}
		f.Groups = append(f.Groups, g)
	}
	if f.list != "" { // not when all is packed
		if info, err := os.Stat(filepath.Dir(f.list)); err != nil || !info.IsDir() {
			return failErr("--list %s: %s is no folder", f.list, filepath.Dir(f.list))
		}
	}
	s, err := f.samples(ctx, args)
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted: nothing was begun")}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, wrapFail(s.Close())) }()
	f.Samples, f.Dir = s, f.out
	if err := f.Validate(); err != nil {
		return usageErr("%w", err)
	}
	if s.Len() == 0 && len(s.Invalid) == 0 {
		return failErr("%s: there is nothing to pack", strings.Join(append(args, f.scripts...), ", "))
	}
	bar := &progress{}
	done := 0
	f.Progress = func(n, total int) {
		if bar.bar == nil {
			bar = newProgress(a.stderr, total, f.quiet)
		}
		for ; done < n; done++ {
			bar.step()
		}
	}
	if f.bad == "skip" {
		f.OnError = pack.SkipOnError
		f.OnSkip = func(err error) {
			bar.clear()
			a.complain(err)
		}
	}
	defer collectLess()()
	r, err := f.Run(ctx)
	bar.clear()
	if err != nil {
		if f.bad == "fail" && errors.Is(err, pack.ErrSample) {
			err = fmt.Errorf("%w; --bad skip leaves it out", err)
		}
		return unpacked(ctx, err, r.Samples, plural(s.Len(), "sample"))
	}
	var b strings.Builder
	for _, s := range r.Shards {
		fmt.Fprintln(&b, s.Name)
	}
	if f.list != "" {
		err = writeFile(f.list, func(w io.Writer) error {
			_, err := io.WriteString(w, b.String())
			return err
		})
	} else {
		_, err = io.WriteString(a.stdout, b.String())
	}
	if err != nil {
		return err
	}
	if !f.quiet {
		a.packedShards(r, s)
	}
	if r.Skipped > 0 {
		return &exitError{status: exitFailed}
	}
	return nil
}

// packedShards says what was packed, and what was not.
func (a *app) packedShards(r *pack.ShardsReport, s *pack.Samples) {
	say := fmt.Sprintf("%s with %s", plural(len(r.Shards), "shard"), plural(r.Samples, "sample"))
	if r.Resumed > 0 {
		say += fmt.Sprintf(", %d of them packed before", r.Resumed)
	}
	such := func(l []string) string {
		if len(l) == 1 {
			return l[0]
		}
		return fmt.Sprintf("%d, such as %s", len(l), l[0])
	}
	if len(r.Outside) > 0 {
		say += "; in no length group: " + such(r.Outside)
	}
	if len(s.LeftOut) > 0 {
		say += "; in no sample: " + such(s.LeftOut)
	}
	if r.Skipped > 0 {
		say += fmt.Sprintf("; %d could not be packed", r.Skipped)
	}
	a.complain(errors.New(say))
}
