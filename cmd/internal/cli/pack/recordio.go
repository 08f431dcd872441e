package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
)

type packRecordIOFlags struct {
	packFlags
	lists       pack.ListOptions
	list        bool
	lst         string
	passThrough bool
	packLabel   bool
	sums        bool
	content     bool
}

// listFlags apply to lists, recordFlags to records.
var (
	listFlags   = []string{"exts", "recursive", "no-shuffle", "seed", "chunks", "train-ratio", "test-ratio"}
	recordFlags = slices.Concat([]string{"lst", "pass-through", "lossless-fast"}, imageFlags, []string{"check", "pack-label", "sums", "compare-content", "bad", "restart", "limit-pixels", "limit-bytes"})
)

func packRecordIOCmd(a *command.App) *cobra.Command {
	f := &packRecordIOFlags{}
	cmd := &cobra.Command{
		Use:                   "recordio [flags] PREFIX ROOT",
		Short:                 "Pack images into RecordIO files, as MXNet's im2rec does",
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return command.UsageErr("%s: want a prefix and a folder, got %s", command.CommandName(cmd), command.Plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return packRecordIO(a, cmd, f, args[0], args[1]) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.list, "list", false, "write lists only, no records")
	fl.StringSliceVar(&f.lists.Exts, "exts", []string{".jpeg", ".jpg", ".png"}, "list files with these `EXTENSIONS`, in any case")
	fl.BoolVar(&f.lists.Recursive, "recursive", false, "list folders below ROOT too; each folder with images gets a label, 0, 1, … in the order of the walk")
	fl.BoolVar(&f.lists.NoShuffle, "no-shuffle", false, "list the images in the order of their folders and names")
	fl.Uint64Var(&f.lists.Seed, "seed", 100, "use the seed `N` for the shuffle, Python's random.shuffle")
	fl.IntVar(&f.lists.Chunks, "chunks", 1, "split the images into `N` lists")
	fl.Float64Var(&f.lists.TrainRatio, "train-ratio", 1, "`PART` of the images for training, 0 to 1; those in neither part are for validation")
	fl.Float64Var(&f.lists.TestRatio, "test-ratio", 0, "`PART` of the images for testing, 0 to 1")
	fl.StringVar(&f.lst, "lst", "", "pack the images of the list `FILE`")
	fl.BoolVar(&f.passThrough, "pass-through", false, "pack the files unchanged")
	fl.BoolVar(&f.packLabel, "pack-label", false, "pack all labels of a line, not only the first")
	fl.BoolVar(&f.sums, "sums", false, "also write PREFIX.rec.sums with a checksum for each record")
	fl.BoolVar(&f.content, "compare-content", false, "when the pack resumes, compare the content of finished images, not their sizes and times")
	f.add(cmd)
	f.addLimits(cmd)
	command.Must(cmd.MarkFlagFilename("lst", "lst"))
	return cmd
}

// check refuses flags that are invalid or conflict.
func (f *packRecordIOFlags) check(cmd *cobra.Command) error {
	switch {
	case f.list && command.FirstChanged(cmd, recordFlags...) != "":
		return command.UsageErr("--%s applies to records, but --list writes none", command.FirstChanged(cmd, recordFlags...))
	case f.lst != "" && command.FirstChanged(cmd, listFlags...) != "":
		return command.UsageErr("--%s applies to new lists, but --lst names one", command.FirstChanged(cmd, listFlags...))
	case f.passThrough && command.FirstChanged(cmd, imageFlags...) != "":
		return command.UsageErr("--%s changes images, but --pass-through keeps them unchanged", command.FirstChanged(cmd, imageFlags...))
	case f.image.Check && !f.passThrough && !f.image.Fast:
		return command.UsageErr("--check applies to images that are packed unchanged, but without --pass-through all are decoded")
	case f.lists.Chunks < 1:
		return command.UsageErr("--chunks %d: want at least 1", f.lists.Chunks)
	case !ratio(f.lists.TrainRatio):
		return command.UsageErr("--train-ratio %v: want 0 to 1", f.lists.TrainRatio)
	case !ratio(f.lists.TestRatio):
		return command.UsageErr("--test-ratio %v: want 0 to 1", f.lists.TestRatio)
	case f.lists.TrainRatio == 1 && f.lists.TestRatio > 0:
		return command.UsageErr("--test-ratio %v: no images are left for testing: want --train-ratio below 1", f.lists.TestRatio)
	case f.lists.TrainRatio+f.lists.TestRatio > 1+1e-9:
		return command.UsageErr("--train-ratio %v and --test-ratio %v: want a sum of at most 1", f.lists.TrainRatio, f.lists.TestRatio)
	}
	for _, e := range f.lists.Exts {
		if !strings.HasPrefix(e, ".") || strings.LastIndexByte(e, '.') > 0 {
			return command.UsageErr("--exts %q: want extensions such as .jpg", e)
		}
	}
	if err := f.packFlags.check(cmd); err != nil {
		return err
	}
	if f.passThrough || f.image.Fast {
		f.image.Encoding = pack.PassThrough
	}
	return nil
}

func ratio(v float64) bool { return v >= 0 && v <= 1 && !math.IsNaN(v) }

func packRecordIO(a *command.App, cmd *cobra.Command, f *packRecordIOFlags, prefix, root string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	prefix, root = paths.TrimFile(prefix), paths.TrimFile(root)
	if paths.IsURI(prefix) {
		return packToStore(prefix)
	}
	if prefix == "" || strings.HasSuffix(prefix, "/") || os.IsPathSeparator(prefix[len(prefix)-1]) {
		return command.UsageErr("%q is not a valid prefix: want a path without extension, such as data/cats", prefix)
	}
	ctx := cmd.Context()
	if info, err := store.URI.Stat(ctx, paths.StoreName(root)); err != nil {
		return command.WrapFail(paths.Error(root, err))
	} else if !info.Folder {
		return command.FailErr("%s: not a folder", root)
	}
	if f.list {
		lists, err := listImages(a, cmd, f, root)
		if err != nil {
			return err
		}
		return writeLists(ctx, a, f, prefix, lists)
	}
	p := &pack.RecordIO{
		Root: paths.StoreName(root), Journal: prefix + ".rec.pack", Image: f.image, PackLabels: f.packLabel, Sums: f.sums, CompareContent: f.content,
		Workers: f.jobs, Force: f.force, Restart: f.restart, Store: f.outside.Files(),
	}
	var err error
	if p.Outputs, err = packLists(a, cmd, f, prefix, root); err != nil {
		return err
	}
	total := 0
	for _, o := range p.Outputs {
		total += len(o.Items)
	}
	if total == 0 {
		return command.FailErr("%s: no images to pack", p.Outputs[0].List)
	}
	bar := command.NewProgress(a.Stderr, total, f.quiet)
	before := 0
	p.Progress = func(done, _ int) {
		if a.OnItem != nil {
			a.OnItem()
		}
		for ; before < done; before++ {
			bar.Step()
		}
	}
	var outside command.Outsiders
	if f.bad == "skip" {
		p.OnError = pack.SkipOnError
		p.OnSkip = func(e *pack.ItemError) {
			if !outside.Add(e) {
				bar.Clear()
				a.Complain(e)
			}
		}
	}
	defer collectLess(&f.image)()
	report, err := p.Run(cmd.Context())
	bar.Clear()
	outside.Say(a)
	if err != nil {
		return unpacked(cmd.Context(), err, report.Items, command.Plural(total, "image"))
	}
	return sayPacked(a, f, p, report)
}

// sayPacked prints the summary of a pack.
func sayPacked(a *command.App, f *packRecordIOFlags, p *pack.RecordIO, s *pack.RecordIOReport) error {
	if !f.quiet {
		left, resumed := "", ""
		if s.Skipped > 0 {
			left = fmt.Sprintf(", %d could not be packed", s.Skipped)
		}
		if s.Resumed > 0 {
			resumed = fmt.Sprintf(" (%d packed before)", s.Resumed)
		}
		var names []string
		for _, o := range p.Outputs {
			names = append(names, o.Name+".rec")
		}
		fmt.Fprintf(a.Stderr, "%s in %s, %d bytes%s%s\n", command.Plural(s.Records, "image"), command.Printable(strings.Join(names, ", ")), s.Bytes, resumed, left)
		a.SayStore()
	}
	if s.Skipped > 0 {
		return &command.ExitError{Status: command.ExitFailed, Err: nil}
	}
	return nil
}

// openList opens a list for reading in order. It must be a regular file.
func openList(ctx context.Context, path string) (io.ReadCloser, error) {
	if paths.IsURI(path) {
		return paths.Open(ctx, path)
	}
	f, _, err := store.OpenRegular(path)
	return f, err
}

// packLists reads the lists, or lists the folder.
func packLists(a *command.App, cmd *cobra.Command, f *packRecordIOFlags, prefix, root string) (l []pack.RecordIOOutput, err error) {
	read := func(path, name string) error {
		file, err := openList(cmd.Context(), path)
		if err != nil {
			return command.WrapFail(paths.Error(path, err))
		}
		items, err := imagerecord.ReadList(path, file)
		if err = errors.Join(paths.ErrorOf(err), file.Close()); err != nil {
			return command.WrapFail(err)
		}
		l = append(l, pack.RecordIOOutput{Name: name, List: path, Items: items})
		return nil
	}
	if f.lst != "" {
		return l, read(paths.TrimFile(f.lst), prefix)
	}
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, command.WrapFail(paths.Error(dir, err))
	}
	ours := regexp.MustCompile("^" + regexp.QuoteMeta(base) + `(_[0-9]+)?(_train|_val|_test)?\.lst$`)
	for _, e := range entries {
		if ours.MatchString(e.Name()) {
			path := dir + e.Name()
			if err := read(path, strings.TrimSuffix(path, ".lst")); err != nil {
				return nil, err
			}
		}
	}
	if len(l) > 0 {
		if n := command.FirstChanged(cmd, listFlags...); n != "" {
			return nil, command.UsageErr("--%s applies to new lists, but %s exists: remove the list or the flag", n, l[0].List)
		}
		if !f.quiet {
			var names []string
			for _, o := range l {
				names = append(names, o.List)
			}
			fmt.Fprintf(a.Stderr, "lists: %s\n", command.Printable(strings.Join(names, ", ")))
		}
		return l, nil
	}
	lists, err := listImages(a, cmd, f, root)
	for _, o := range lists {
		l = append(l, pack.RecordIOOutput{Name: prefix + o.Suffix, List: root, Items: o.Items})
	}
	return l, err
}

// listImages lists the folder and prints the label of each folder.
func listImages(a *command.App, cmd *cobra.Command, f *packRecordIOFlags, root string) ([]pack.List, error) {
	files, folders := map[string]int{}, 0 // on no list
	o := f.lists
	o.OnOther = func(name string, folder bool) {
		if folder {
			folders++
		} else {
			files[strings.ToLower(path.Ext(store.Base(name)))]++
		}
	}
	lists, labels, left, err := pack.Lists(cmd.Context(), f.outside.Files(), paths.StoreName(root), o)
	if err != nil {
		return nil, command.WrapFail(err)
	}
	if n := others(files, folders); n != "" && !f.quiet {
		a.Complain(errors.New(n))
	}
	n := left
	for _, l := range lists {
		n += len(l.Items)
	}
	if n == 0 {
		return nil, command.FailErr("%s: no images found: want files with the extension %s", root, command.OrList(f.lists.Exts))
	}
	if left > 0 {
		a.Complain(fmt.Errorf("%s of %d in no list, since the sizes of lists are rounded down as in im2rec", command.Plural(left, "image"), n))
	}
	if f.lists.Recursive && !f.quiet {
		for i, l := range labels {
			if _, err := fmt.Fprintf(a.Stdout, "%s %d\n", command.Printable(l), i); err != nil {
				return nil, err
			}
		}
	}
	return lists, nil
}

// others describes the files on no list, by extension, and the folders.
func others(files map[string]int, folders int) string {
	exts := slices.SortedFunc(maps.Keys(files), func(a, b string) int { return cmp.Or(files[b]-files[a], strings.Compare(a, b)) })
	n := 0
	var l []string
	for i, ext := range exts {
		n += files[ext]
		switch {
		case i < maxExts:
			l = append(l, fmt.Sprintf("%d %s", files[ext], cmp.Or(ext, "without extension")))
		case i == maxExts:
			l = append(l, "others")
		}
	}
	var s []string
	if n > 0 {
		s = append(s, fmt.Sprintf("%s on no list (%s): --exts lists more extensions", command.Plural(n, "file"), strings.Join(l, ", ")))
	}
	if folders > 0 {
		s = append(s, fmt.Sprintf("%s on no list: --recursive lists their files", command.Plural(folders, "folder")))
	}
	return strings.Join(s, "; ")
}

// maxExts is the number of extensions that others names.
const maxExts = 12

func writeLists(ctx context.Context, a *command.App, f *packRecordIOFlags, prefix string, lists []pack.List) error {
	for _, l := range lists {
		if _, err := os.Lstat(prefix + l.Suffix + ".lst"); err == nil && !f.force {
			return command.FailErr("%s.lst: the file exists; --force replaces it", prefix+l.Suffix)
		}
	}
	if err := os.MkdirAll(filepath.Dir(prefix), 0o777); err != nil {
		return command.WrapFail(paths.Error(filepath.Dir(prefix), err))
	}
	for _, l := range lists {
		if err := newfile.Write(ctx, prefix+l.Suffix+".lst", func(w io.Writer) error {
			var b []byte
			for k := range l.Items {
				if b = l.Items[k].Append(b); len(b) > 1<<16 || k == len(l.Items)-1 {
					if _, err := w.Write(b); err != nil {
						return err
					}
					b = b[:0]
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
