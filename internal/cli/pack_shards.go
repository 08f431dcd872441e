package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/jpegli"
	"github.com/infer-prep/infer-prep/internal/filelock"
	"github.com/infer-prep/infer-prep/pack"
)

type packShardsFlags struct {
	pack.ShardOptions
	kaldi           pack.KaldiOptions
	out             string
	bytes           count
	scripts, labels []string
	groups          []string
	classes         bool
	root            string
	bad, list       string
	quiet           bool
	image           pack.ImageOptions
	encoding        string
	chroma          string
	color           int
}

// imageFlags change images; without any they are packed as they are.
var imageFlags = []string{"encoding", "quality", "chroma", "color", "resize", "center-crop"}

func (a *app) packShardsCmd() *cobra.Command {
	f := &packShardsFlags{bytes: 3e9}
	f.image.Limits = codec.DefaultLimits()
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
number of workers, or the time. A name that ends in .tar.gz or .tar.zst has the shards compressed. A
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
			f.image.Encoding = pack.PassThrough
			for _, n := range imageFlags {
				if cmd.Flags().Changed(n) {
					if err := f.images(); err != nil {
						return err
					}
					if len(f.scripts) > 0 || !f.classes && len(args) == 1 && !strings.HasSuffix(args[0], ".lst") {
						return usageErr("--%s is for images with labels: want --classes or a list", n)
					}
					break
				}
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
	fl.StringVar(&f.encoding, "encoding", ".jpg", "`FORMAT` of the images, .jpg or .png, if they are changed")
	fl.IntVar(&f.image.Resize, "resize", 0, "scale the shorter edge to `N` pixels as cv2.resize does; 0 keeps the size")
	fl.BoolVar(&f.image.CenterCrop, "center-crop", false, "cut out the square in the middle, before --resize")
	fl.IntVar(&f.image.Quality, "quality", 0, "`QUALITY` of JPEG, 1 to 100 (95 if it is not given), or the compression of PNG, 1 to 9 (3)")
	fl.StringVar(&f.chroma, "chroma", "420", "how much of the colour JPEG keeps: 420, 422 or 444")
	fl.IntVar(&f.color, "color", 1, "1: colour, without alpha; 0: gray; -1: as the file is, alpha too, and not turned upright")
	fl.Var((*count)(&f.image.Limits.Pixels), "limit-pixels", "refuse images of more pixels; 0 is no limit")
	fl.Var((*count)(&f.image.Limits.Bytes), "limit-bytes", "refuse images that need more `BYTES` of memory, each; 0 is no limit")
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
	fl.StringVar(&f.bad, "bad", "fail", "at a sample that cannot be packed `fail`, or skip it and name it on standard error")
	fl.IntVarP(&f.Jobs, "jobs", "j", runtime.GOMAXPROCS(0), "`N` workers that read samples")
	fl.Lookup("jobs").DefValue = "one for each CPU"
	fl.BoolVar(&f.Force, "force", false, "replace the shards of that name that are there")
	fl.BoolVar(&f.Restart, "restart", false, "begin an unfinished pack anew, whatever it was of")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress bar, and no word of what was packed")
	noErr(cmd.MarkFlagDirname("output"))
	noErr(cmd.MarkFlagDirname("root"))
	for _, n := range []string{"list", "scp", "label", "segments", "lengths"} {
		noErr(cmd.MarkFlagFilename(n))
	}
	complete(cmd, "bad", "fail", "skip")
	complete(cmd, "encoding", ".jpg", ".png")
	complete(cmd, "chroma", "420", "422", "444")
	complete(cmd, "color", "1", "0", "-1")
	return cmd
}

// images reads the flags that say what becomes of images.
func (f *packShardsFlags) images() error {
	var ok [3]bool
	f.image.Encoding, ok[0] = map[string]pack.Encoding{".jpg": pack.JPEG, ".png": pack.PNG}[f.encoding]
	f.image.Chroma, ok[1] = map[string]jpegli.Chroma{"420": jpegli.Chroma420, "422": jpegli.Chroma422, "444": jpegli.Chroma444}[f.chroma]
	f.image.Color, ok[2] = map[int]pack.Color{1: pack.RGB, 0: pack.Gray, -1: pack.Unchanged}[f.color]
	switch {
	case !ok[0]:
		return usageErr("--encoding %q: want .jpg or .png", f.encoding)
	case !ok[1]:
		return usageErr("--chroma %q: want 420, 422 or 444", f.chroma)
	case !ok[2]:
		return usageErr("--color %d: want 1, 0 or -1", f.color)
	}
	if most := map[pack.Encoding]int{pack.JPEG: 100, pack.PNG: 9}[f.image.Encoding]; f.image.Quality < 0 || f.image.Quality > most {
		return usageErr("--quality %d: want 1 to %d for %s", f.image.Quality, most, f.encoding)
	}
	if f.image.Resize < 0 || f.image.Resize > 1<<24 {
		return usageErr("--resize %d: want 0 to %d", f.image.Resize, 1<<24)
	}
	return nil
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
		return s, wrapFail(err)
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
	return s, wrapFail(err)
}

func (a *app) packShards(ctx context.Context, f *packShardsFlags, args []string) (err error) {
	switch {
	case f.out == "":
		return usageErr("no folder to write to, want -o DIR")
	case f.bad != "fail" && f.bad != "skip":
		return usageErr("--bad %q, want fail or skip", f.bad)
	case f.Count < 1 || f.bytes < 1:
		return usageErr("--samples-per-file %d and --bytes-per-file %d, want at least 1", f.Count, int64(f.bytes))
	case f.Jobs < 1:
		return usageErr("--jobs %d, want at least 1", f.Jobs)
	}
	f.Size = int64(f.bytes)
	for _, s := range f.groups {
		g, err := pack.ParseGroup(s)
		if err != nil {
			return usageErr("--groups: %w", err)
		}
		f.Groups = append(f.Groups, g)
	}
	s, err := f.samples(ctx, args)
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted: nothing was begun")}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, wrapFail(s.Close())) }()
	if err := f.Check(s); err != nil {
		return usageErr("%w", err)
	}
	bar := &progress{}
	done := 0
	f.Progress = func(n, steps int) {
		if bar.bar == nil {
			bar = newProgress(a.stderr, steps, f.quiet)
		}
		for ; done < n; done++ {
			bar.step()
		}
	}
	if f.bad == "skip" {
		f.Bad = func(err error) error {
			bar.clear()
			a.complain(err)
			return nil
		}
	}
	r, err := pack.Shards(ctx, s, f.out, f.ShardOptions)
	bar.clear()
	if err != nil {
		return a.unpacked(ctx, f, r, s, err)
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
	if r.Bad > 0 {
		return &exitError{status: exitFailed}
	}
	return nil
}

// packedShards says what was packed, and what was not.
func (a *app) packedShards(r *pack.ShardReport, s *pack.Samples) {
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
	if r.Bad > 0 {
		say += fmt.Sprintf("; bad: %d", r.Bad)
	}
	a.complain(errors.New(say))
}

// unpacked is the error of a pack that did not end.
func (a *app) unpacked(ctx context.Context, f *packShardsFlags, r *pack.ShardReport, s *pack.Samples, err error) error {
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, fmt.Errorf("interrupted: %d of %s packed; the same command goes on", r.Samples, plural(s.Len(), "sample"))}
	case errors.Is(err, pack.ErrExists):
		return failErr("%w; --force replaces them", err)
	case errors.Is(err, pack.ErrOther), errors.Is(err, pack.ErrChanged):
		return failErr("%w; --restart begins anew", err)
	case errors.Is(err, filelock.ErrLocked):
		return failErr("%w: a pack into %s is running", err, f.out)
	case errors.Is(err, pack.ErrSample) && slices.Contains(s.Bad, err):
		return failErr("%w; --bad skip leaves it out", err)
	}
	return failErr("%w", err)
}
