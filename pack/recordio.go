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

	"github.com/infer-prep/infer-prep/codec/jpegli"
	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records"
)

// ErrExists is the error of a pack whose files are there already.
var ErrExists = errors.New("exists already")

// RecordIO packs images into RecordIO files, as MXNet's im2rec does: a file NAME.rec of image records
// with its index NAME.idx for each list. Pixels are those that im2rec packs (decoded and resized as OpenCV does);
// bytes are im2rec's with PassThrough, and else those of another encoder.
//
// Pixels differ from im2rec's, in JPEG and PNG files: of CMYK, by at most 2, since OpenCV converts it by itself; of 16-bit
// colour that becomes gray, by 1; in their orientation, where that stands in XMP alone, or in EXIF in an unusual way. Files of
// the other formats are decoded as package codec says, which for some GIF, TIFF and BMP files is not OpenCV's way.
//
// The bytes depend on the images and the parameters alone: not on Jobs, the platform, or how often the
// pack was killed. Files are written as NAME.rec.part and so on, which are renamed when the list is done. What is done
// is noted in a journal, Journal. A pack that finds one goes on after the last state that is
// in the files, by their checksums; it is ErrOther if that journal is of other parameters, lists or
// folder. Images that changed in between are not noticed.
//
// Reference: MXNet 1.9.1, tools/im2rec.py, with OpenCV 5.0.0.93.
type RecordIO struct {
	Root    string // the folder that the lists' paths are in
	Outputs []RecordIOOutput
	Journal string // default: NAME.rec.pack of the first output
	Image   ImageOptions
	// PackLabels packs all labels of an item that has several, and not the first alone.
	PackLabels bool
	Sums       bool // write NAME.rec.sums too, as recordio.ReadSums reads them
	Jobs       int  // workers; default: GOMAXPROCS
	// Skip leaves images out that cannot be packed, and else they end the pack. Bad is told of each, in
	// order, from the goroutine that called Run; a pack that goes on does not tell again.
	Skip bool
	Bad  func(*ItemError)
	// Force writes over files that are there already. Restart begins anew, whatever another pack left.
	Force, Restart bool
	// Progress is told how many items are done, of all lists.
	Progress func(done int)

	// For tests: other values than noteItems and partBuffer, and what is called where a process may die.
	noteItems, buffer int
	test              func(point string) error
}

// RecordIOOutput is a list that is packed into one file.
type RecordIOOutput struct {
	Name  string // the path without .rec
	List  string // what the list is called in errors
	Items []imagerecord.Item
}

// ItemError is an image that was not packed.
type ItemError struct {
	List string
	Item int // from 0
	Path string
	Err  error
}

func (e *ItemError) Error() string {
	return fmt.Sprintf("%s: item %d: %s: %v", e.List, e.Item+1, e.Path, reason(e.Err))
}

// Unwrap gives the reason.
func (e *ItemError) Unwrap() error { return e.Err }

// reason is an error without the path, which stands before it.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// RecordIOStats is what a pack did.
type RecordIOStats struct {
	Items   int   // of the lists that are done
	Records int   // packed
	Bad     int   // left out
	Bytes   int64 // of the .rec files
	Resumed int   // of Items, those that earlier packs had done
}

// recordIOState is what the journal has: output, and what is in its files.
type recordIOState struct {
	Output  int
	Items   int // done, of the output
	Bad     int // of them
	Bytes   int64
	Files   []fileState
	Through bool `json:",omitempty"` // the output is whole, and its files are being renamed
}

// fileState is the beginning of a file, or all of it.
type fileState struct {
	Size int64
	CRC  uint32 // CRC-32C
}

func (s *fileState) add(b []byte) {
	s.Size += int64(len(b))
	s.CRC = crc32.Update(s.CRC, castagnoli, b)
}

const (
	noteItems = 256     // a state is noted after so many items,
	noteBytes = 8 << 20 // or so many bytes of records
)

// Run packs. What it did until an error is there for the next Run. When ctx ends, the state is
// noted and the error is ctx's.
func (p *RecordIO) Run(ctx context.Context) (stats RecordIOStats, err error) {
	q := *p
	if err := q.Image.check(); err != nil {
		return stats, err
	}
	if len(q.Outputs) == 0 {
		return stats, errors.New("pack: no list")
	}
	q.Jobs = cmp.Or(q.Jobs, runtime.GOMAXPROCS(0))
	q.noteItems, q.buffer = cmp.Or(q.noteItems, noteItems), cmp.Or(q.buffer, partBuffer)
	q.Journal = cmp.Or(q.Journal, q.Outputs[0].Name+".rec.pack")
	for _, o := range q.Outputs {
		for k, i := range o.Items {
			if i.Index > math.MaxInt64 {
				return stats, fmt.Errorf("pack: %s: item %d: the number %d is none of an index", o.List, k+1, i.Index)
			}
		}
	}
	if q.test == nil {
		q.test = func(string) error { return nil }
	}
	digest, err := q.digest()
	if err != nil {
		return stats, err
	}
	if q.Restart {
		if err := dropJournal(q.Journal); err != nil {
			return stats, err
		}
	}
	if _, err := os.Lstat(q.Journal); errors.Is(err, fs.ErrNotExist) {
		if err := q.exists(0); err != nil {
			return stats, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(q.Journal), 0o777); err != nil {
		return stats, fmt.Errorf("pack: %w", err)
	}
	j, states, err := openJournal[recordIOState](q.Journal, digest)
	if err != nil {
		return stats, err
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
		return stats, fmt.Errorf("pack: %s: %w", q.Journal, ErrOther)
	}
	for i := range at { // what is finished must still be there
		last, err := q.finished(i, states)
		if err != nil {
			return stats, err
		}
		stats.add(last)
		stats.Resumed += last.Items
	}
	for ; at < len(q.Outputs); at++ {
		w := recordIOWriter{p: &q, at: at, journal: j, stats: &stats, before: stats.Items}
		if err := w.pack(ctx, states); err != nil {
			return stats, err
		}
		states = nil
	}
	err = j.remove()
	j = nil
	if err != nil {
		err = fmt.Errorf("pack: %w", err)
	}
	return stats, err
}

func (s *RecordIOStats) add(state recordIOState) {
	s.Items += state.Items
	s.Bad += state.Bad
	s.Records += state.Items - state.Bad
	s.Bytes += state.Bytes
}

// digest names all that the bytes depend on but the images' own.
func (p *RecordIO) digest() (string, error) {
	root, err := filepath.Abs(p.Root)
	if err != nil {
		return "", fmt.Errorf("pack: %w", err)
	}
	o := p.Image
	d := sha256.New()
	head, err := json.Marshal([]any{"recordio 1", jpegli.Version, root, o.Encoding, o.Quality, o.Chroma, o.Color, o.CenterCrop, o.Resize, o.Limits, p.PackLabels, p.Sums, len(p.Outputs)})
	if err != nil {
		return "", fmt.Errorf("pack: %w", err)
	}
	d.Write(head)
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

// files are those of an output.
func (p *RecordIO) files(i int) []string {
	l := []string{p.Outputs[i].Name + ".rec", p.Outputs[i].Name + ".idx"}
	if p.Sums {
		l = append(l, p.Outputs[i].Name+".rec.sums")
	}
	return l
}

// exists is ErrExists if files of the outputs from on are there, and may not be replaced. What is no file never may.
func (p *RecordIO) exists(from int) error {
	for i := from; i < len(p.Outputs); i++ {
		for _, f := range p.files(i) {
			info, err := os.Stat(f)
			if err == nil && !info.Mode().IsRegular() {
				return fmt.Errorf("pack: %s: a folder, device or the like, want the name of a file", f)
			}
			if _, err := os.Lstat(f); err == nil && !p.Force {
				return fmt.Errorf("pack: %s: %w", f, ErrExists)
			}
		}
	}
	return nil
}

// finished is the last state of an output whose files are renamed. They must have its sizes.
func (p *RecordIO) finished(output int, states []recordIOState) (last recordIOState, err error) {
	for _, s := range states {
		if s.Output == output && s.Through {
			last = s
		}
	}
	for k, f := range p.files(output) {
		info, err := os.Stat(f)
		if err == nil && (k >= len(last.Files) || info.Size() != last.Files[k].Size) {
			err = fmt.Errorf("%s: not the file that was packed", f)
		}
		if err != nil {
			return last, fmt.Errorf("pack: %s: its pack is unfinished, but %w", p.Journal, err)
		}
	}
	return last, nil
}

// recordIOWriter writes one output.
type recordIOWriter struct {
	p       *RecordIO
	at      int
	journal *journal[recordIOState]
	stats   *RecordIOStats
	before  int // items of the outputs before

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
	if err := w.open(states); err != nil {
		return err
	}
	defer func() {
		w.stats.add(w.state)
		for _, f := range w.files {
			err = errors.Join(err, f.close())
		}
	}()
	w.stats.Resumed += w.state.Items
	if w.writer, err = recordio.NewIndexedWriter(w.files[0], w.files[1], w.files[0].Size); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	w.progress()
	w.workers.New = func() any { return &images{o: &p.Image} }
	buffers := sync.Pool{New: func() any { return new([]byte) }}
	err = ordered.Run(ctx, ordered.Options{From: w.state.Items, To: len(out.Items), Workers: p.Jobs}, func(_ context.Context, _, i int) (*[]byte, error) {
		worker := w.workers.Get().(*images)
		defer w.workers.Put(worker)
		buf := buffers.Get().(*[]byte)
		b, err := worker.image((*buf)[:0], below(p.Root, out.Items[i].Path))
		if err == nil {
			*buf = b
		}
		return buf, err
	}, func(i int, buf *[]byte, err error) error {
		defer buffers.Put(buf)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := w.put(i, *buf, err); err != nil {
			return err
		}
		w.progress()
		if w.state.Items-w.noted.Items >= p.noteItems || w.state.Bytes-w.noted.Bytes >= noteBytes {
			return w.note()
		}
		return nil
	})
	if err != nil {
		var bad *ItemError
		if ctx.Err() != nil || errors.As(err, &bad) { // nothing is wrong with the files: what is done counts
			err = errors.Join(err, w.note())
		}
		return err
	}
	w.state.Through = true
	if err := w.note(); err != nil {
		return err
	}
	return w.finish()
}

// put writes an item's record, if err is nil.
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
			err = fmt.Errorf("%w: a record of %d bytes, at most %d can be written", records.ErrTooLarge, len(w.b), recordio.MaxRecord)
		}
	}
	if err != nil {
		bad := &ItemError{out.List, i, item.Path, err}
		if w.p.Bad != nil {
			w.p.Bad(bad)
		}
		if !w.p.Skip {
			return bad
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
		w.p.Progress(w.before + w.state.Items)
	}
}

// note writes what is buffered, and the state.
func (w *recordIOWriter) note() error {
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
	if err := w.journal.note(s); err != nil {
		return fmt.Errorf("pack: %s: %w", w.p.Journal, err)
	}
	w.state, w.noted = s, s
	return w.p.test("noted")
}

// open opens the output's files with what is sound of them.
func (w *recordIOWriter) open(states []recordIOState) (err error) {
	p := w.p
	names := p.files(w.at)
	var valid []recordIOState // one that follows one with more items is where a pack went on
	for _, s := range states {
		if s.Output != w.at {
			continue
		}
		if len(s.Files) != len(names) || s.Items > len(p.Outputs[w.at].Items) {
			return fmt.Errorf("pack: %s: %w", p.Journal, ErrOther)
		}
		for len(valid) > 0 && valid[len(valid)-1].Items >= s.Items {
			valid = valid[:len(valid)-1]
		}
		valid = append(valid, s)
	}
	states = valid
	if n := len(states); n > 0 && states[n-1].Through {
		// Some files may have been renamed: those are made parts again.
		for k, f := range names {
			if err := unfinish(f, states[n-1].Files[k]); err != nil {
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
		n, err := f.sound(states[:sound], k)
		if err != nil {
			return err
		}
		sound = n
	}
	if sound > 0 {
		w.state = states[sound-1]
	} else {
		w.state = recordIOState{Output: w.at, Files: make([]fileState, len(names))}
	}
	w.state.Through = false
	for k, f := range w.files {
		if err := f.cut(w.state.Files[k]); err != nil {
			return err
		}
	}
	if w.noted = w.state; sound < len(states) {
		return w.note() // so that the states after it do not count any more
	}
	return nil
}

// finish gives the files their names. What it replaces goes first, so that no index stands
// beside the records of another pack.
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
		if err := f.close(); err != nil { // some systems rename no open files
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
