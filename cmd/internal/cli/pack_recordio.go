package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
)

type packRecordIOFlags struct {
	packFlags
	lists       pack.ListOptions
	list        bool
	lst         string
	passThrough bool
	packLabel   bool
	sums        bool
}

// listFlags are those that make lists, and recordFlags those that make records.
var (
	listFlags   = []string{"exts", "recursive", "no-shuffle", "seed", "chunks", "train-ratio", "test-ratio"}
	recordFlags = slices.Concat([]string{"lst", "pass-through"}, imageFlags, []string{"pack-label", "sums", "bad", "restart", "limit-pixels", "limit-bytes"})
)

func (a *app) packRecordIOCmd() *cobra.Command {
	f := &packRecordIOFlags{}
	cmd := &cobra.Command{
		Use:   "recordio [flags] PREFIX ROOT",
		Short: "Pack images into RecordIO files, as MXNet's im2rec does",
		Long: `Pack the images below the folder ROOT into PREFIX.rec, with its index PREFIX.idx.
Flags, lists and records are those of MXNet's im2rec: the lists are the same byte for byte,
and so are the pixels and, with --pass-through, the records. JPEG files are jpegli's.

Which images, in which order and with which labels is said by a list: lines of a
number, labels and a path below ROOT, with tabs between. It is --lst FILE, or else the
lists that --list wrote for PREFIX: PREFIX.lst, PREFIX_train.lst, PREFIX_val.lst,
PREFIX_test.lst, and those of chunks, PREFIX_0.lst and so on, which are packed each into
its own files. If there are none the folder is listed as --list does. (im2rec takes every
list whose name begins with PREFIX, and leaves lines out that it cannot read; here
they are an error.)

An image that cannot be packed is named with its list and its place in it; the others are
packed, unless --bad fail is given. Files have .part behind their names until they are
whole. A pack that was interrupted or killed goes on when the same command is given
again: PREFIX.rec.pack says how far it was.

Exit status: 0 all done; 1 some images could not be packed, or a file could not be
written; 2 a wrong flag; 130 interrupted.`,
		Example: `  infer-prep pack recordio --recursive --resize 256 data/cats photos/
  infer-prep pack recordio --list --recursive --train-ratio 0.9 data/cats photos/
  infer-prep pack recordio --encoding .png --color 0 --jobs 8 data/cats photos/
  infer-prep pack recordio --lst boxes.lst --pack-label --pass-through --sums boxes photos/`,
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageErr("%s wants a prefix and a folder, got %s", commandName(cmd), plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.packRecordIO(cmd, f, args[0], args[1]) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.list, "list", false, "write lists, and no records")
	fl.StringSliceVar(&f.lists.Exts, "exts", []string{".jpeg", ".jpg", ".png"}, "list files with these `ENDINGS`, in upper or lower case")
	fl.BoolVar(&f.lists.Recursive, "recursive", false, "list the folders below ROOT too; each one with images is a label of its own, 0, 1, … in the order of the walk")
	fl.BoolVar(&f.lists.NoShuffle, "no-shuffle", false, "list the images in the order of their folders and names")
	fl.Uint64Var(&f.lists.Seed, "seed", 100, "seed of the shuffle, which is Python's random.shuffle")
	fl.IntVar(&f.lists.Chunks, "chunks", 1, "divide the images among `N` lists")
	fl.Float64Var(&f.lists.TrainRatio, "train-ratio", 1, "`PART` of the images that is for training, 0 to 1; what is left behind the test images is for validation")
	fl.Float64Var(&f.lists.TestRatio, "test-ratio", 0, "`PART` of the images that is for testing, 0 to 1")
	fl.StringVar(&f.lst, "lst", "", "pack the images of this list `FILE`")
	fl.BoolVar(&f.passThrough, "pass-through", false, "pack the files' bytes as they are")
	fl.BoolVar(&f.packLabel, "pack-label", false, "pack all labels of a line, not the first alone")
	fl.BoolVar(&f.sums, "sums", false, "write PREFIX.rec.sums too, with a checksum for each record")
	f.add(cmd)
	noErr(cmd.MarkFlagFilename("lst", "lst"))
	return cmd
}

// check refuses flags that are wrong, or have no meaning together.
func (f *packRecordIOFlags) check(cmd *cobra.Command) error {
	switch {
	case f.list && changed(cmd, recordFlags) != "":
		return usageErr("--%s is for records, and --list writes none", changed(cmd, recordFlags))
	case f.lst != "" && changed(cmd, listFlags) != "":
		return usageErr("--%s makes a list, and --lst is one", changed(cmd, listFlags))
	case f.passThrough && changed(cmd, imageFlags) != "":
		return usageErr("--%s: with --pass-through images are not changed", changed(cmd, imageFlags))
	case f.lists.Chunks < 1:
		return usageErr("--chunks %d: want 1 or more", f.lists.Chunks)
	case !ratio(f.lists.TrainRatio):
		return usageErr("--train-ratio %v: want 0 to 1", f.lists.TrainRatio)
	case !ratio(f.lists.TestRatio):
		return usageErr("--test-ratio %v: want 0 to 1", f.lists.TestRatio)
	case f.lists.TrainRatio == 1 && f.lists.TestRatio > 0:
		return usageErr("--test-ratio %v: nothing is left for testing, want --train-ratio below 1", f.lists.TestRatio)
	case f.lists.TrainRatio+f.lists.TestRatio > 1+1e-9:
		return usageErr("--train-ratio %v and --test-ratio %v: want 1 at most together", f.lists.TrainRatio, f.lists.TestRatio)
	}
	for _, e := range f.lists.Exts {
		if !strings.HasPrefix(e, ".") || strings.LastIndexByte(e, '.') > 0 {
			return usageErr("--exts %q: want endings such as .jpg", e)
		}
	}
	if err := f.packFlags.check(cmd); err != nil {
		return err
	}
	if f.passThrough {
		f.image.Encoding = pack.PassThrough
	}
	return nil
}

func ratio(v float64) bool { return v >= 0 && v <= 1 && !math.IsNaN(v) }

func (a *app) packRecordIO(cmd *cobra.Command, f *packRecordIOFlags, prefix, root string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if prefix == "" || strings.HasSuffix(prefix, "/") || os.IsPathSeparator(prefix[len(prefix)-1]) {
		return usageErr("%q is no prefix: want a folder and the beginning of a name", prefix)
	}
	if info, err := os.Stat(root); err != nil {
		return wrapFail(plain(root, err))
	} else if !info.IsDir() {
		return failErr("%s: not a folder", root)
	}
	if f.list {
		lists, err := a.listImages(f, root)
		if err != nil {
			return err
		}
		return a.writeLists(f, prefix, lists)
	}
	p := &pack.RecordIO{
		Root: root, Journal: prefix + ".rec.pack", Image: f.image, PackLabels: f.packLabel, Sums: f.sums,
		Workers: f.jobs, Force: f.force, Restart: f.restart,
	}
	var err error
	if p.Outputs, err = a.packLists(cmd, f, prefix, root); err != nil {
		return err
	}
	total := 0
	for _, o := range p.Outputs {
		total += len(o.Items)
	}
	if total == 0 {
		return failErr("%s: no images in it, there is nothing to pack", p.Outputs[0].List)
	}
	bar := newProgress(a.stderr, total, f.quiet)
	before := 0
	p.Progress = func(done, _ int) {
		if a.testDelay != nil {
			a.testDelay()
		}
		for ; before < done; before++ {
			bar.step()
		}
	}
	if f.bad == "skip" {
		p.OnError = pack.SkipOnError
		p.OnSkip = func(e *pack.ItemError) {
			bar.clear()
			a.complain(e)
		}
	}
	defer collectLess()()
	report, err := p.Run(cmd.Context())
	bar.clear()
	if err != nil {
		return unpacked(cmd.Context(), err, report.Items, plural(total, "image"))
	}
	return a.packed(f, p, report)
}

// packed tells what became of a pack.
func (a *app) packed(f *packRecordIOFlags, p *pack.RecordIO, s *pack.RecordIOReport) error {
	if !f.quiet {
		left, resumed := "", ""
		if s.Skipped > 0 {
			left = fmt.Sprintf(", %d could not be packed", s.Skipped)
		}
		if s.Resumed > 0 {
			resumed = fmt.Sprintf(" (%d by the pack before)", s.Resumed)
		}
		var names []string
		for _, o := range p.Outputs {
			names = append(names, o.Name+".rec")
		}
		fmt.Fprintf(a.stderr, "%s in %s, %d bytes%s%s\n", plural(s.Records, "image"), printable(strings.Join(names, ", ")), s.Bytes, resumed, left)
	}
	if s.Skipped > 0 {
		return &exitError{exitFailed, nil}
	}
	return nil
}

// packLists finds or makes the lists.
func (a *app) packLists(cmd *cobra.Command, f *packRecordIOFlags, prefix, root string) (l []pack.RecordIOOutput, err error) {
	read := func(path, name string) error {
		file, err := os.Open(path)
		if err != nil {
			return wrapFail(plain(path, err))
		}
		items, err := imagerecord.ReadList(path, file)
		if err = errors.Join(ofFile(err), file.Close()); err != nil {
			return wrapFail(err)
		}
		l = append(l, pack.RecordIOOutput{Name: name, List: path, Items: items})
		return nil
	}
	if f.lst != "" {
		return l, read(f.lst, prefix)
	}
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, wrapFail(plain(dir, err))
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
		if n := changed(cmd, listFlags); n != "" {
			return nil, usageErr("--%s makes lists, but there is %s; remove it, or leave the flag out", n, l[0].List)
		}
		if !f.quiet {
			var names []string
			for _, o := range l {
				names = append(names, o.List)
			}
			fmt.Fprintf(a.stderr, "lists: %s\n", printable(strings.Join(names, ", ")))
		}
		return l, nil
	}
	lists, err := a.listImages(f, root)
	for _, o := range lists {
		l = append(l, pack.RecordIOOutput{Name: prefix + o.Suffix, List: root, Items: o.Items})
	}
	return l, err
}

// listImages lists the folder, and says which folder is which label.
func (a *app) listImages(f *packRecordIOFlags, root string) ([]pack.List, error) {
	lists, labels, left, err := pack.Lists(root, f.lists)
	if err != nil {
		return nil, wrapFail(err)
	}
	n := left
	for _, l := range lists {
		n += len(l.Items)
	}
	if n == 0 {
		return nil, failErr("%s: no images found, want files with one of the endings %s", root, strings.Join(f.lists.Exts, " "))
	}
	if left > 0 {
		a.complain(fmt.Errorf("%s of %d in no list: the sizes of lists are rounded down, as im2rec does", plural(left, "image"), n))
	}
	if f.lists.Recursive && !f.quiet {
		for i, l := range labels {
			if _, err := fmt.Fprintf(a.stdout, "%s %d\n", printable(l), i); err != nil {
				return nil, err
			}
		}
	}
	return lists, nil
}

func (a *app) writeLists(f *packRecordIOFlags, prefix string, lists []pack.List) error {
	for _, l := range lists {
		if _, err := os.Lstat(prefix + l.Suffix + ".lst"); err == nil && !f.force {
			return failErr("%s.lst: exists already; --force writes over it", prefix+l.Suffix)
		}
	}
	if err := os.MkdirAll(filepath.Dir(prefix), 0o777); err != nil {
		return wrapFail(plain(filepath.Dir(prefix), err))
	}
	for _, l := range lists {
		if err := writeFile(prefix+l.Suffix+".lst", func(w io.Writer) error {
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
