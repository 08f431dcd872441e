package pack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// RecordIO packs images into RecordIO files, as MXNet's im2rec does. Each list
// becomes a file NAME.rec of image records with its index NAME.idx. Pixels are
// im2rec's: decoded and resized as OpenCV does. Bytes are im2rec's with
// PassThrough; otherwise the encoder differs.
//
// Pixels of JPEG and PNG files differ from im2rec's in these cases: CMYK, by at
// most 2, because OpenCV has a conversion of its own; 16-bit colour that
// becomes gray, by 1; orientation that is in XMP only, or unusual in EXIF.
// Other formats are decoded as package codec does, which for some GIF, TIFF and
// BMP files is not OpenCV's way.
//
// The bytes depend on the images and the options alone: not on Workers, the
// platform, or the number of interruptions. Files are written as NAME.rec.part
// and so on, and renamed when their list is complete. A journal records the
// progress. A pack that finds a journal resumes after the last recorded state
// whose checksums match the files. It returns ErrOther if the journal belongs
// to other options, lists or root. It returns an *ItemError with ErrChanged if
// an image has changed, appeared or vanished since it was packed or skipped;
// see CompareContent. Restart then packs all images again.
//
// A RecordIO must not be changed while Run is running.
//
// Reference: MXNet 1.9.1, tools/im2rec.py, with OpenCV 5.0.0.93.
type RecordIO struct {
	// Root is the folder that the paths of the lists are relative to. A path
	// that leads out of it is an error of the image, and so is a link that
	// leads out if Image is PassThrough.
	Root string
	// Store opens Root. Default: store.Local. store.AllowOutside(store.Local)
	// permits paths that lead out of Root.
	Store   store.Opener
	Outputs []RecordIOOutput
	Journal string // the journal's path; default: NAME.rec.pack of the first output
	Image   ImageOptions
	// PackLabels packs all labels of an item. Default: only the first.
	PackLabels bool
	Sums       bool // also write NAME.rec.sums, which recordio.ReadSums reads
	// CompareContent compares the content of finished images when a pack
	// resumes, which reads all of them again. Default: their sizes and
	// modification times, which a change within one tick of the file system's
	// clock can leave equal.
	CompareContent bool
	Workers        int // number of goroutines; default: GOMAXPROCS
	// OnError says what happens to an image that cannot be packed. Default:
	// FailOnError, with an *ItemError.
	OnError ErrorPolicy
	// OnSkip, if not nil, is called for every skipped image, in order, by the
	// goroutine that called Run. A resumed pack does not report an image again.
	OnSkip func(*ItemError)
	// Force replaces existing files. Restart discards an unfinished pack.
	Force, Restart bool
	// Progress, if not nil, is called with the number of finished items and the
	// number of items of all lists, by the goroutine that called Run.
	Progress func(done, total int)

	// For tests: values in place of noteItems and partBuffer, and a function
	// that is called wherever a process may die.
	noteItems, buffer int
	test              func(point string) error

	total  int // items of all outputs
	folder store.Folder
}

// RecordIOOutput is a list that becomes one record file.
type RecordIOOutput struct {
	Name  string // the path without .rec
	List  string // the name of the list in errors
	Items []imagerecord.Item
}

// ItemError reports an image that cannot be packed.
type ItemError struct {
	List string // the name of the list
	Item int    // index in the list, from 0
	Path string // the path in the list
	Err  error
}

func (e *ItemError) Error() string {
	return fmt.Sprintf("%s: item %d: %s: %v", e.List, e.Item+1, e.Path, reason(e.Err))
}

// Unwrap returns the reason.
func (e *ItemError) Unwrap() error { return e.Err }

// reason returns err without its path, which the caller prints.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// RecordIOReport describes what a pack did.
type RecordIOReport struct {
	Items   int   // finished items of all lists
	Records int   // packed items
	Skipped int   // items left out
	Bytes   int64 // size of the .rec files
	Resumed int   // the part of Items that earlier runs finished
}

// recordIOState is a line of the journal: the state of one output's files.
type recordIOState struct {
	Output  int
	Items   int // finished items of the output
	Bad     int // skipped ones among them
	Bytes   int64
	Files   []fileState
	Stamps  []byte `json:",omitempty"` // of the items since the state before, one after another
	Through bool   `json:",omitempty"` // the output is complete; its files are being renamed
}

// fileState describes a file, or its first Size bytes.
type fileState struct {
	Size int64
	CRC  uint32 // CRC-32C
}

func (s *fileState) add(b []byte) {
	s.Size += int64(len(b))
	s.CRC = crc32.Update(s.CRC, castagnoli, b)
}

const (
	// The journal gets a state after this many items or bytes of records: a
	// kill costs at most the work for them.
	noteItems = 256
	noteBytes = 8 << 20
)

// Validate checks the options and lists. It reads no files.
func (p *RecordIO) Validate() error {
	image := p.Image
	if err := image.fill(); err != nil {
		return err
	}
	switch {
	case len(p.Outputs) == 0:
		return errors.New("pack: no output: want at least one list")
	case p.Workers < 0:
		return fmt.Errorf("pack: %d workers: want at least 1, or 0 for the default", p.Workers)
	case p.OnError > SkipOnError:
		return fmt.Errorf("pack: error policy %d: want FailOnError or SkipOnError", p.OnError)
	}
	for _, o := range p.Outputs {
		for k, i := range o.Items {
			if i.Index > math.MaxInt64 {
				return fmt.Errorf("pack: %s: item %d: index %d: want at most 2^63-1", o.List, k+1, i.Index)
			}
		}
	}
	return nil
}

// Run packs the lists. After an error or cancellation the next Run resumes.
// When ctx ends, Run records the state and returns ctx's error. The report is
// valid in any case.
func (p *RecordIO) Run(ctx context.Context) (*RecordIOReport, error) {
	report := &RecordIOReport{}
	return report, p.run(ctx, report)
}

func (p *RecordIO) run(ctx context.Context, report *RecordIOReport) (err error) {
	if err := p.Validate(); err != nil {
		return err
	}
	q := *p
	if err := q.Image.fill(); err != nil {
		return err
	}
	q.Workers = cmp.Or(q.Workers, runtime.GOMAXPROCS(0))
	q.noteItems, q.buffer = cmp.Or(q.noteItems, noteItems), cmp.Or(q.buffer, partBuffer)
	q.Journal = cmp.Or(q.Journal, q.Outputs[0].Name+".rec.pack")
	for _, o := range q.Outputs {
		q.total += len(o.Items)
	}
	if q.test == nil {
		q.test = func(string) error { return nil }
	}
	if q.Store == nil {
		q.Store = store.Local
	}
	if q.folder, err = store.OpenFolder(ctx, q.Store, q.Root); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	defer func() { err = errors.Join(err, q.folder.Close()) }()
	if q.Image.Encoding != PassThrough {
		q.folder = store.FollowLinks(q.Store, q.folder)
	}
	digest, err := q.digest()
	if err != nil {
		return err
	}
	if q.Restart {
		if err := dropJournal(q.Journal); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(q.Journal); errors.Is(err, fs.ErrNotExist) {
		if err := q.exists(0); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(q.Journal), 0o777); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	j, states, err := openJournal[recordIOState](q.Journal, digest)
	if err != nil {
		return err
	}
	defer func() {
		if j != nil {
			err = errors.Join(err, j.close())
		}
	}()
	at := 0
	if len(states) > 0 {
		at = states[len(states)-1].Output
	}
	if at >= len(q.Outputs) {
		return fmt.Errorf("pack: %s: %w", q.Journal, ErrOther)
	}
	for i := range at { // finished outputs must still exist
		last, err := q.finished(ctx, i, states)
		if err != nil {
			return err
		}
		report.add(last)
		report.Resumed += last.Items
	}
	for ; at < len(q.Outputs); at++ {
		w := recordIOWriter{p: &q, at: at, journal: j, report: report, before: report.Items}
		err := w.pack(ctx, states)
		if errors.Is(err, ErrEmpty) {
			err = errors.Join(err, q.removeAll(), j.remove())
			j = nil
		}
		if err != nil {
			return err
		}
		states = nil
	}
	err = j.remove()
	j = nil
	if err != nil {
		err = fmt.Errorf("pack: %w", err)
	}
	return err
}

// removeAll removes the files of a pack without records, the finished ones and
// the last output's unfinished ones.
func (p *RecordIO) removeAll() (err error) {
	last := len(p.Outputs) - 1
	for i := range p.Outputs {
		for _, f := range p.files(i) {
			if i == last {
				f += ".part"
			}
			if e := os.Remove(f); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, fmt.Errorf("pack: %w", e))
			}
		}
	}
	return err
}

func (r *RecordIOReport) add(state recordIOState) {
	r.Items += state.Items
	r.Skipped += state.Bad
	r.Records += state.Items - state.Bad
	r.Bytes += state.Bytes
}

// digest returns a digest of everything that determines the output, except the
// content of the images.
func (p *RecordIO) digest() (string, error) {
	root, err := filepath.Abs(p.Root)
	if err != nil {
		return "", fmt.Errorf("pack: %w", err)
	}
	o := p.Image
	d := sha256.New()
	head, err := json.Marshal([]any{"recordio 3", o.version(), root, o.Encoding, o.Quality, o.Chroma, o.Color, o.CenterCrop, o.Resize, o.Limits, p.PackLabels, p.Sums, p.CompareContent, len(p.Outputs)})
	if err != nil {
		return "", fmt.Errorf("pack: %w", err)
	}
	d.Write(head)
	if o.Check {
		fmt.Fprintln(d, "\ncheck")
	}
	if o.Fast {
		fmt.Fprintln(d, "\nfast")
	}
	var line []byte
	for _, o := range p.Outputs {
		name, err := filepath.Abs(o.Name)
		if err != nil {
			return "", fmt.Errorf("pack: %w", err)
		}
		fmt.Fprintf(d, "\n%q %d\n", name, len(o.Items))
		for _, i := range o.Items {
			line = fmt.Appendf(line[:0], "%d %x %q\n", i.Index, i.Labels, i.Path)
			d.Write(line)
		}
	}
	return fmt.Sprintf("%x", d.Sum(nil)), nil
}

// files returns the names of an output's files.
func (p *RecordIO) files(i int) []string {
	l := []string{p.Outputs[i].Name + ".rec", p.Outputs[i].Name + ".idx"}
	if p.Sums {
		l = append(l, p.Outputs[i].Name+".rec.sums")
	}
	return l
}

// exists returns ErrExists if a file of the outputs with index from or higher
// exists and must not be replaced. Only regular files are ever replaced.
func (p *RecordIO) exists(from int) error {
	for i := from; i < len(p.Outputs); i++ {
		for _, f := range p.files(i) {
			info, err := os.Stat(f)
			if err == nil && !info.Mode().IsRegular() {
				return fmt.Errorf("pack: %s: not a regular file: want the name of a file", f)
			}
			if _, err := os.Lstat(f); err == nil && !p.Force {
				return fmt.Errorf("pack: %s: %w", f, ErrExists)
			}
		}
	}
	return nil
}

// finished returns the last state of an output whose files were renamed, after
// comparing their sizes and the images.
func (p *RecordIO) finished(ctx context.Context, output int, states []recordIOState) (last recordIOState, err error) {
	if states, err = p.validStates(output, states); err != nil {
		return last, err
	}
	if n := len(states); n > 0 && states[n-1].Through {
		last = states[n-1]
	}
	for k, f := range p.files(output) {
		info, err := os.Stat(f)
		if err == nil && (k >= len(last.Files) || info.Size() != last.Files[k].Size) {
			err = fmt.Errorf("%s: size differs from the packed file's", f)
		}
		if err != nil {
			return last, fmt.Errorf("pack: %s: unfinished pack: %w", p.Journal, err)
		}
	}
	return last, p.unchanged(ctx, output, states)
}

// packedImage is an image that is ready to be written.
type packedImage struct {
	content []byte
	stamp   stamp
}

// recordIOWriter writes one output.
type recordIOWriter struct {
	p       *RecordIO
	at      int
	journal *journal[recordIOState]
	report  *RecordIOReport
	before  int // items of earlier outputs

	files   []*partFile
	state   recordIOState
	writer  *recordio.IndexedWriter
	record  imagerecord.Record
	b, sum  []byte
	noted   recordIOState
	workers sync.Pool
}

func (w *recordIOWriter) pack(ctx context.Context, states []recordIOState) (err error) {
	p := w.p
	out := &p.Outputs[w.at]
	if err := w.open(ctx, states); err != nil {
		return err
	}
	defer func() {
		w.report.add(w.state)
		for _, f := range w.files {
			err = errors.Join(err, f.close())
		}
	}()
	w.report.Resumed += w.state.Items
	if w.writer, err = recordio.NewIndexedWriter(w.files[0], w.files[1], w.files[0].Size); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	w.progress()
	w.workers.New = func() any { return &images{o: &p.Image} }
	items := sync.Pool{New: func() any { return new(packedImage) }}
	err = ordered.Run(ctx, ordered.Options{From: w.state.Items, To: len(out.Items), Workers: p.Workers}, func(ctx context.Context, _, i int) (*packedImage, error) {
		worker := w.workers.Get().(*images)
		defer w.workers.Put(worker)
		x := items.Get().(*packedImage)
		path := below(p.Root, out.Items[i].Path)
		x.stamp = statStamp(ctx, p.folder, path) // before the content: a change in between is noticed later
		b, err := worker.image(ctx, p.folder, x.content[:0], path)
		if err == nil {
			x.content = b
		}
		if p.CompareContent {
			x.stamp = stamp{}
			if worker.whole {
				x.stamp = contentStamp(worker.file)
			}
		}
		return x, err
	}, func(i int, x *packedImage, err error) error {
		defer items.Put(x)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := w.put(i, x.content, err); err != nil {
			return err
		}
		w.state.Stamps = append(w.state.Stamps, x.stamp[:]...)
		w.progress()
		if w.state.Items-w.noted.Items >= p.noteItems || w.state.Bytes-w.noted.Bytes >= noteBytes {
			return w.note(false)
		}
		return nil
	})
	if err != nil {
		var bad *ItemError
		if ctx.Err() != nil || errors.As(err, &bad) { // the files are sound: keep the finished items
			err = errors.Join(err, w.note(true))
		}
		return err
	}
	if w.at == len(p.Outputs)-1 && w.report.Records+w.state.Items-w.state.Bad == 0 {
		return fmt.Errorf("pack: %w: %d items, none could be read", ErrEmpty, p.total)
	}
	w.state.Through = true
	if err := w.note(true); err != nil {
		return err
	}
	return w.finish()
}

// put writes an item's record, or handles the error of preparing it.
func (w *recordIOWriter) put(i int, content []byte, err error) error {
	out := &w.p.Outputs[w.at]
	item := &out.Items[i]
	r := &w.record
	*r = imagerecord.Record{Labels: item.Labels, ID: item.Index}
	if err == nil {
		if len(item.Labels) > 1 && !w.p.PackLabels {
			r.Labels = item.Labels[:1]
		}
		r.Content = content
		if w.b = r.Append(w.b[:0]); len(w.b) > recordio.MaxRecord {
			err = fmt.Errorf("%w: a record of %d bytes: want at most %d", records.ErrTooLarge, len(w.b), recordio.MaxRecord)
		}
	}
	if err != nil {
		bad := &ItemError{out.List, i, item.Path, err}
		if w.p.OnError == FailOnError {
			return bad
		}
		if w.p.OnSkip != nil {
			w.p.OnSkip(bad)
		}
		w.state.Bad++
		w.state.Items++
		return nil
	}
	at := w.writer.Offset()
	if err := w.writer.WriteKey(int64(item.Index), w.b); err != nil {
		return fmt.Errorf("pack: %s: %w", w.files[0].path, err)
	}
	if w.p.Sums {
		w.sum, _ = recordio.Sum{Offset: at, Length: len(w.b), CRC: crc32.Checksum(w.b, castagnoli)}.AppendText(w.sum[:0])
		if _, err := w.files[2].Write(w.sum); err != nil {
			return fmt.Errorf("pack: %s: %w", w.files[2].path, err)
		}
	}
	w.state.Items++
	w.state.Bytes = w.writer.Offset()
	return nil
}

func (w *recordIOWriter) progress() {
	if w.p.Progress != nil {
		w.p.Progress(w.before+w.state.Items, w.p.total)
	}
}

// note flushes the files and records the state in the journal; see
// journal.note.
func (w *recordIOWriter) note(durable bool) error {
	s := w.state
	s.Files = nil
	for _, f := range w.files {
		if err := f.flush(); err != nil {
			return err
		}
		s.Files = append(s.Files, f.fileState)
	}
	if err := w.p.test("note"); err != nil {
		return err
	}
	if err := w.journal.note(s, durable); err != nil {
		return fmt.Errorf("pack: %s: %w", w.p.Journal, err)
	}
	w.state, w.noted = s, s
	w.state.Stamps = nil
	return w.p.test("noted")
}

// open opens the output's files, cut to the last state that they match.
func (w *recordIOWriter) open(ctx context.Context, states []recordIOState) (err error) {
	p := w.p
	names := p.files(w.at)
	if states, err = p.validStates(w.at, states); err != nil {
		return err
	}
	if n := len(states); n > 0 && states[n-1].Through {
		// Some files may have been renamed: rename them back.
		for k, f := range names {
			if err := reopen(f, states[n-1].Files[k]); err != nil {
				return fmt.Errorf("pack: %w", err)
			}
		}
	}
	if err := p.exists(w.at); err != nil {
		return err
	}
	sound := len(states)
	defer func() {
		if err != nil {
			for _, f := range w.files {
				err = errors.Join(err, f.f.Close())
			}
			w.files = nil
		}
	}()
	for k, name := range names {
		f, err := openPart(name, p.buffer, p.test)
		if err != nil {
			return err
		}
		w.files = append(w.files, f)
		n, err := f.matching(states[:sound], k)
		if err != nil {
			return err
		}
		sound = n
	}
	if err := p.unchanged(ctx, w.at, states[:sound]); err != nil {
		return err
	}
	if sound > 0 {
		w.state = states[sound-1]
	} else {
		w.state = recordIOState{Output: w.at, Files: make([]fileState, len(names))}
	}
	w.state.Through = false
	for k, f := range w.files {
		if err := f.truncate(w.state.Files[k]); err != nil {
			return err
		}
	}
	if w.noted = w.state; sound < len(states) {
		return w.note(true) // so that later states no longer count
	}
	w.state.Stamps = nil
	return nil
}

// finish renames the files to their final names. It removes the files they
// replace first, so that no index ever lies beside the records of another pack.
func (w *recordIOWriter) finish() error {
	p := w.p
	for _, f := range w.files {
		if err := f.f.Sync(); err != nil {
			return fmt.Errorf("pack: %w", err)
		}
	}
	name := p.Outputs[w.at].Name
	if p.Force {
		for _, f := range []string{name + ".idx", name + ".rec.sums", name + ".rec"} {
			if err := p.test("remove " + filepath.Ext(f)); err != nil {
				return err
			}
			if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("pack: %w", err)
			}
		}
	}
	for k, f := range w.files {
		if err := p.test("rename " + filepath.Ext(p.files(w.at)[k])); err != nil {
			return err
		}
		if err := f.close(); err != nil { // some systems cannot rename open files
			return err
		}
		if err := os.Rename(f.path, p.files(w.at)[k]); err != nil {
			return fmt.Errorf("pack: %w", err)
		}
	}
	if err := p.test("renamed"); err != nil {
		return err
	}
	syncFolder(filepath.Dir(name))
	return nil
}
