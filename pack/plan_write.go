package pack

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/sorts"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
)

// InputKind says what the samples of an input are.
type InputKind uint8

const (
	// InputImages are the images at any depth below a folder, without labels
	// (label 0 in image records).
	InputImages InputKind = iota
	// InputClasses are the images of a folder with one subfolder per class. The
	// label is the number of the class in the order of their names. A class
	// without images is an error. Images beside the subfolders are left out.
	InputClasses
	// InputSamples are the files at any depth below a folder, grouped as
	// webdataset groups members: files whose paths are equal up to the first
	// dot of their names are one sample. Only for tar shards.
	InputSamples
	// InputList are the images of a .lst file.
	InputList
	// InputManifest are the images of a manifest of JSON lines, as
	// dataset/manifest reads it.
	InputManifest
)

// PlanInput is the input of a plan.
//
// The samples of a folder are sorted by the bytes of their paths (InputSamples:
// of their keys). Names that begin with a dot are skipped. Links are followed;
// a link to a folder above it, or out of the folder, is an error. The samples
// of a list or manifest are in its order.
type PlanInput struct {
	Kind InputKind
	// Name is the folder, list or manifest.
	Name string
	// Root is the folder that the paths of a list or manifest are relative to.
	// Default: the folder of the list or manifest.
	Root string
	// Exts lists the extensions of InputImages and InputClasses, in lower case
	// and with the dot. Default: those of ClassSamples, or those of sounds if
	// the plan's graph decodes sounds.
	Exts []string
	// Usage selects the images of a manifest. Default: train.
	Usage string
}

// PlanWrite are the options of WritePlan. The zero value is ready for use.
type PlanWrite struct {
	// Force replaces an existing plan. Processes that read it then fail.
	Force bool
	// Progress, if not nil, is called with the number of samples found, every
	// some thousands, by the goroutine that called WritePlan.
	Progress func(samples int64)
}

// Listed describes what WritePlan found.
type Listed struct {
	Samples int64
	Shards  int
	Bytes   int64 // of their files; those of a list are unknown and count as 0
	// LeftOut is the number of files of a folder that belong to no sample, and
	// Example is the path of the first.
	LeftOut int64
	Example string
	// Listing is the name of the listing, and Size its size in bytes.
	Listing string
	Size    int64
}

// WritePlan lists an input and writes a plan of the options p: a file name,
// such as plan.json, and beside it the listing, plan.list. The plan appears
// last. files opens the input and creates the plan: usually store.URI.
//
// It keeps the names of one folder at a time in memory, and a chunk for each
// shard, 256 MiB together; the names on the way are in a temporary file
// (os.TempDir) of about the listing's size. The bytes of both files are a
// function of p, in and the input. p is not changed.
func WritePlan(ctx context.Context, files store.Opener, name string, p *Plan, in PlanInput, o PlanWrite) (_ *Listed, err error) {
	q := &Plan{ // without state of another plan
		Output: p.Output, Name: p.Name, Shards: p.Shards, PerShard: p.PerShard, Seed: p.Seed, Image: p.Image, PackLabels: p.PackLabels, Graph: p.Graph,
	}
	q.FileSamples = in.Kind == InputSamples
	if err := errors.Join(q.fill(), in.fill(p.Graph)); err != nil {
		return nil, err
	}
	q.Root = in.Root
	if store.IsLocal(files, q.Root) {
		// Other processes have other current folders.
		if q.Root, err = filepath.Abs(strings.TrimPrefix(q.Root, "file://")); err != nil {
			return nil, fmt.Errorf("pack: plan: %w", err)
		}
	}
	base := store.Base(name)
	q.listing = strings.TrimSuffix(base, path.Ext(base)) + ".list"
	if q.listing == base {
		return nil, fmt.Errorf("pack: plan: %s: want the name of a JSON file, such as plan.json: the listing beside it ends in .list", name)
	}
	if i, err := files.Stat(ctx, name); err == nil && i.Folder {
		return nil, fmt.Errorf("pack: plan: %s: a folder: want the name of a JSON file, such as plan.json", name)
	} else if err == nil && !o.Force {
		return nil, fmt.Errorf("pack: plan: %s: %w", name, ErrExists)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("pack: plan: %w", err)
	}
	folder, err := store.OpenFolder(ctx, files, in.Root)
	if err != nil {
		return nil, fmt.Errorf("pack: plan: %w", err)
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	s, err := newSpool()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	l := &planLister{ctx: ctx, files: files, folder: folder, in: in, out: q, to: s, progress: o.Progress, plan: name}
	l.local = store.IsLocal(files, in.Root)
	if err := l.list(); err != nil {
		return nil, err
	}
	if err := q.validate(); err != nil { // of the class names
		return nil, err
	}
	if q.Count = l.found.Samples; q.Count == 0 {
		return nil, fmt.Errorf("pack: plan: %s: no samples: want %s", in.Name, in.want())
	}
	if q.Count > maxPlanCount {
		return nil, fmt.Errorf("pack: plan: %d samples: want at most %d", q.Count, int64(maxPlanCount))
	}
	if q.Shards == 0 {
		n := (q.Count + int64(q.PerShard) - 1) / int64(q.PerShard)
		if n > maxPlanShards {
			return nil, fmt.Errorf("pack: plan: %d samples with %d per shard are %d shards: want at most %d", q.Count, q.PerShard, n, maxPlanShards)
		}
		q.Shards = int(n)
	}
	if int64(q.Shards) > q.Count {
		return nil, fmt.Errorf("pack: plan: %d shards of %d samples: want at most one shard per sample", q.Shards, q.Count)
	}
	q.digest = hex.EncodeToString(s.digest.Sum(nil))
	l.found.Listing = store.Join(store.Dir(name), q.listing)
	if l.found.Size, err = q.writeListing(ctx, files, l.found.Listing, s); err != nil {
		return nil, err
	}
	b, err := q.marshal()
	if err != nil {
		return nil, err
	}
	if err := store.WriteFile(ctx, files, name, b); err != nil {
		return nil, fmt.Errorf("pack: plan: %w", err)
	}
	l.found.Shards = q.Shards
	return &l.found, nil
}

// writeListing distributes the samples of a spool.
func (p *Plan) writeListing(ctx context.Context, files store.Opener, name string, s *spool) (size int64, err error) {
	w, err := newListWriter(ctx, files, name, p)
	if err != nil {
		return 0, err
	}
	order := p.order()
	if err = s.each(func(i int64, body []byte) error {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return w.add(order(i), body)
	}); err == nil {
		err = w.finish(s.digest.Sum(nil))
	}
	if err != nil {
		return 0, errors.Join(err, w.abort())
	}
	return w.at, nil
}

// fill checks an input and sets defaults.
func (in *PlanInput) fill(g *datagraph.Graph) error {
	switch in.Kind {
	case InputImages, InputClasses, InputSamples:
		if in.Root != "" && in.Root != in.Name {
			return fmt.Errorf("pack: plan: root %s: only lists and manifests have a root of their own", in.Root)
		}
		in.Root = in.Name
	case InputList, InputManifest:
		if in.Root == "" {
			in.Root = store.Dir(in.Name)
		}
	default:
		return fmt.Errorf("pack: plan: input kind %d: unknown value", in.Kind)
	}
	if in.Name == "" {
		return errors.New("pack: plan: no input: want a folder, a list or a manifest")
	}
	if in.Exts == nil {
		in.Exts = imageExtensions
		if g != nil && decodesSound(g) {
			in.Exts = soundExtensions
		}
	}
	if in.Usage == "" {
		in.Usage = "train"
	}
	return nil
}

// want says what an input should have.
func (in *PlanInput) want() string {
	switch in.Kind {
	case InputSamples:
		return "files with a dot in their names"
	case InputList:
		return "lines of a number, labels and a path"
	case InputManifest:
		return fmt.Sprintf("lines of usage %q with a label", in.Usage)
	}
	return "files with the extension " + strings.Join(in.Exts, " ")
}

// planLister finds the samples of an input.
type planLister struct {
	ctx      context.Context
	files    store.Opener
	folder   store.Folder
	in       PlanInput
	out      *Plan
	plan     string // its name
	local    bool
	to       *spool
	progress func(int64)
	found    Listed
	body     []byte
	classes  map[string]int
	images   []int64 // of each class
}

// add adds a sample.
func (l *planLister) add(e *Entry) error {
	if l.found.Samples == 0 { // a store has versions of all files or of none
		l.out.versions = e.Files[0].Version != 0
	}
	l.body = appendEntry(l.body[:0], e, l.out.versions)
	if len(l.body) > maxEntry-16 {
		return fmt.Errorf("pack: plan: %.200s: an entry of %d bytes: want at most %d", e.Files[0].Path, len(l.body), maxEntry-16)
	}
	for _, f := range e.Files {
		l.found.Bytes += max(f.Size, 0)
	}
	l.found.Samples++
	if l.found.Samples%1024 == 0 {
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		if l.progress != nil {
			l.progress(l.found.Samples)
		}
	}
	return l.to.add(l.body)
}

func (l *planLister) list() error {
	switch l.in.Kind {
	case InputList:
		return l.listed()
	case InputManifest:
		return l.manifest()
	case InputClasses:
		if err := l.findClasses(); err != nil {
			return err
		}
	}
	if err := l.walk("", nil, 0); err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	for c, n := range l.images {
		if n == 0 {
			return fmt.Errorf("pack: plan: %s: class %q has no image: want one with extension %s", l.in.Name, l.out.ClassNames[c], strings.Join(l.in.Exts, " "))
		}
	}
	return nil
}

// findClasses numbers the folders below the input.
func (l *planLister) findClasses() error {
	entries, err := store.ListNames(l.ctx, l.folder, l.in.Root)
	if err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	l.classes, l.out.ClassNames = map[string]int{}, []string{}
	for _, e := range entries { // sorted
		if e.Folder && !strings.HasPrefix(e.Base, ".") {
			l.classes[e.Base] = len(l.out.ClassNames)
			l.out.ClassNames = append(l.out.ClassNames, e.Base)
		}
	}
	l.images = make([]int64, len(l.out.ClassNames))
	return nil
}

// maxWalk bounds the depth of folders.
const maxWalk = 256

// planName is a file or folder of the folder that is being walked.
type planName struct {
	base, order string
	folder      bool
	file        EntryFile
	entry       store.Entry
}

// walk adds the samples in and below a folder, in the order of their paths: a
// folder is sorted as if a slash ended its name.
func (l *planLister) walk(folder string, above []string, class int) error {
	if len(above) > maxWalk {
		return fmt.Errorf("%s: folders are nested %d deep: want at most %d", folder, len(above), maxWalk)
	}
	dir := store.Join(l.in.Root, folder)
	above = append(slices.Clip(above), dir)
	names, err := l.names(dir, folder)
	if err != nil {
		return err
	}
	sorts.Func(names, func(a, b planName) int {
		if c := strings.Compare(a.order, b.order); c != 0 {
			return c
		}
		return strings.Compare(a.base, b.base)
	})
	var sample Entry
	for i, n := range names {
		name := path.Join(folder, n.base)
		if n.folder {
			if up, err := linksToAncestor(l.ctx, l.folder, n.entry, above); up || err != nil {
				if err == nil {
					err = fmt.Errorf("%s: link to a folder above it", n.entry.Name)
				}
				return err
			}
			c := class
			if l.classes != nil && folder == "" {
				c = l.classes[n.base]
			}
			if err := l.walk(name, above, c); err != nil {
				return err
			}
			continue
		}
		if l.in.Kind == InputSamples {
			key, _, ok := webdataset.KeyExt(name)
			if !ok {
				l.leaveOut(name)
				continue
			}
			if sample.Files = append(sample.Files, n.file); i+1 < len(names) && !names[i+1].folder {
				if next, _, ok := webdataset.KeyExt(path.Join(folder, names[i+1].base)); ok && next == key {
					continue
				}
			}
			sample.Number = uint64(l.found.Samples)
			if err := l.add(&sample); err != nil {
				return err
			}
			sample.Files = sample.Files[:0]
			continue
		}
		if !slices.Contains(l.in.Exts, strings.ToLower(path.Ext(n.base))) || l.classes != nil && folder == "" {
			l.leaveOut(name)
			continue
		}
		e := Entry{Number: uint64(l.found.Samples), Files: []EntryFile{n.file}}
		if l.classes != nil {
			e.Labels = []float32{float32(class)}
			l.images[class]++
		}
		if err := l.add(&e); err != nil {
			return err
		}
	}
	return nil
}

func (l *planLister) leaveOut(name string) {
	if l.found.LeftOut++; l.found.Example == "" {
		l.found.Example = name
	}
}

// names lists a folder without hidden names and the plan itself.
func (l *planLister) names(dir, folder string) (names []planName, err error) {
	add := func(n planName) {
		switch {
		case strings.HasPrefix(n.base, "."), n.entry.Name == l.plan, n.entry.Name == store.Join(store.Dir(l.plan), l.out.listing):
			return
		case n.folder:
			n.order = n.base + "/"
		case l.in.Kind == InputSamples:
			n.order, _, _ = strings.Cut(n.base, ".")
		default:
			n.order = n.base
		}
		n.file.Path = path.Join(folder, n.base)
		names = append(names, n)
	}
	if !l.local { // a request for each file would take too long
		in, err := l.folder.List(l.ctx, dir)
		if err != nil {
			return nil, err
		}
		for _, i := range in {
			n := planName{base: store.Base(i.Name), folder: i.Folder, entry: store.Entry{Name: i.Name}, file: EntryFile{Size: i.Size, Version: digestVersion(i.Version)}}
			if !i.Modified.IsZero() {
				n.file.Modified = i.Modified.UnixNano()
			}
			add(n)
		}
		return names, nil
	}
	entries, err := l.folder.ListNames(l.ctx, dir)
	if err != nil {
		return nil, err
	}
	for k, e := range entries {
		if k%1024 == 0 && l.ctx.Err() != nil {
			return nil, l.ctx.Err()
		}
		n := planName{base: e.Base, folder: e.Folder, entry: e}
		switch {
		case e.Folder:
		case e.Link && e.Irregular: // a dangling link: packing reports the error
			n.file.Size = -1
		case e.Irregular:
			continue
		default:
			i, err := l.folder.Stat(l.ctx, e.Name)
			if err != nil {
				return nil, err
			}
			n.file.Size, n.file.Modified = i.Size, i.Modified.UnixNano()
		}
		add(n)
	}
	return names, nil
}

// listed adds the images of a .lst file.
func (l *planLister) listed() error {
	return l.open(func(r io.Reader) error {
		for i, err := range imagerecord.Items(l.in.Name, r) {
			if err != nil {
				return err
			}
			if err := l.add(&Entry{Number: i.Index, Labels: i.Labels, Files: []EntryFile{{Path: i.Path, Size: -1}}}); err != nil {
				return err
			}
		}
		return nil
	})
}

// open calls do with a reader of the input.
func (l *planLister) open(do func(r io.Reader) error) error {
	f, err := l.files.Open(l.ctx, l.in.Name)
	if err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	r, _ := store.NewReader(f)
	return errors.Join(do(r), f.Close())
}

// spool keeps encoded entries in a temporary file, in order, until their number
// is known.
type spool struct {
	f      *os.File
	buf    *bufio.Writer
	zstd   *zstd.Encoder
	digest interface {
		io.Writer
		Sum([]byte) []byte
	}
	head []byte
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "infer-prep-plan-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("pack: plan: a temporary file: %w", err)
	}
	s := &spool{f: f, buf: bufio.NewWriterSize(f, 256<<10), digest: sha256.New()}
	if s.zstd, err = zstd.NewWriter(s.buf, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

func (s *spool) add(body []byte) error {
	s.head = binary.AppendUvarint(s.head[:0], uint64(len(body)))
	for _, b := range [][]byte{s.head, body} {
		if _, err := s.zstd.Write(b); err != nil {
			return fmt.Errorf("pack: plan: a temporary file: %w", err)
		}
		_, _ = s.digest.Write(b) // a hash has no errors
	}
	return nil
}

// each calls do with the entries. No more can be added.
func (s *spool) each(do func(i int64, body []byte) error) error {
	err := errors.Join(s.zstd.Close(), s.buf.Flush())
	if err == nil {
		_, err = s.f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("pack: plan: a temporary file: %w", err)
	}
	z, err := zstd.NewReader(bufio.NewReaderSize(s.f, 256<<10), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	defer z.Close()
	in := bufio.NewReaderSize(z, 64<<10)
	var b []byte
	for i := int64(0); ; i++ {
		n, err := binary.ReadUvarint(in)
		if err == io.EOF {
			return nil
		}
		if err == nil && n > maxEntry {
			err = errEntry
		}
		if err == nil {
			b = slices.Grow(b[:0], int(n))[:n]
			_, err = io.ReadFull(in, b)
		}
		if err != nil {
			return fmt.Errorf("pack: plan: a temporary file: %w", err)
		}
		if err := do(i, b); err != nil {
			return err
		}
	}
}

// remove removes the temporary file.
func (s *spool) remove() error { return removeOpen(s.f) }
