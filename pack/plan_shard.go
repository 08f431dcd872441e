package pack

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
)

// PlanShard is the summary of a packed shard, the file NAME-00000.json. It
// appears after the shard's other files: a shard with a summary is complete.
type PlanShard struct {
	Version int         `json:"infer_prep_shard"` // 1
	Plan    string      `json:"plan"`             // Plan.Digest
	Shard   int         `json:"shard"`
	Entries int64       `json:"entries"` // samples of the plan
	Records int64       `json:"records"` // packed samples
	Files   []PlanFile  `json:"files"`   // the shard, then its index
	Bad     []BadRecord `json:"bad,omitempty"`
}

// PlanFile is a file of a shard.
type PlanFile struct {
	Name string `json:"name"` // in the folder of the output
	Size int64  `json:"size"`
	CRC  string `json:"crc32c"` // 8 hexadecimal digits
}

// BadRecord is a sample that could not be packed.
type BadRecord struct {
	Position int64  `json:"position"`
	Path     string `json:"path"`
	Kind     string `json:"kind"` // such as BadMissing
	Why      string `json:"why"`
}

func (b *BadRecord) Error() string {
	return fmt.Sprintf("%s: position %d: %s (%s)", b.Path, b.Position, b.Why, b.Kind)
}

const shardVersion = 1

// maxSummary bounds a summary in bytes: a shard of a million bad samples.
const maxSummary = 512 << 20

// base returns the name of a shard's files without their suffixes.
func (p *Plan) base(shard int) string {
	return fmt.Sprintf("%s-%0*d", p.Name, p.digits(), shard)
}

// digits returns the number of digits of a shard's number.
func (p *Plan) digits() int { return max(5, len(fmt.Sprint(p.Shards-1))) }

// suffixes returns the ends of the names of a shard and its index.
func (p *Plan) suffixes() [2]string {
	if p.Output == PlanRecordIO {
		return [2]string{".rec", ".idx"}
	}
	return [2]string{".tar", webdataset.IndexName(".tar")}
}

// summaryEnd is the end of a summary's name.
const summaryEnd = ".json"

// makeFolder creates a folder of the local disk. Other stores need none.
func makeFolder(files store.Opener, dir string) error {
	if !store.IsLocal(files, dir) {
		return nil
	}
	if err := os.MkdirAll(strings.TrimPrefix(dir, "file://"), 0o777); err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	return nil
}

// WriteShard writes a shard, its index and then its summary into the folder
// out, which it creates on the local disk. records yields the result of Record
// for every entry of the shard, in the order of the positions; an error that it
// yields ends WriteShard, which then leaves no file. Bad samples are left out
// and listed in the summary.
//
// Each file appears under its name when it is complete and replaces an older
// one. The bytes depend on the plan and its input alone, so two processes that
// write one shard do no harm. The records' Data is not kept.
func (p *Plan) WriteShard(ctx context.Context, out string, shard int, records iter.Seq2[Record, error]) (_ *PlanShard, err error) {
	if shard < 0 || shard >= p.Shards {
		return nil, fmt.Errorf("pack: plan: shard %d: want 0 to %d", shard, p.Shards-1)
	}
	if err := makeFolder(p.files, out); err != nil {
		return nil, err
	}
	w := &planShardWriter{p: p, s: &PlanShard{Version: shardVersion, Plan: p.Digest, Shard: shard}}
	base := p.base(shard)
	suffixes := p.suffixes()
	for i, end := range suffixes {
		w.s.Files = append(w.s.Files, PlanFile{Name: base + end})
		f, err := store.NewWriter(ctx, p.files, store.Join(out, base+end))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("pack: plan: %w", err), w.abort())
		}
		w.files[i] = summedFile{w: f}
	}
	first, end := p.Range(shard)
	err = w.begin()
	next := first
	if err == nil {
		for r, e := range records {
			if err = e; err == nil {
				err = ctx.Err()
			}
			if err == nil && (r.Shard != shard || r.Position != next || next >= end) {
				err = fmt.Errorf("pack: plan: shard %d: a record of shard %d and position %d: want position %d of %d to %d", shard, r.Shard, r.Position, next, first, end-1)
			}
			if err == nil {
				err = w.add(&r)
			}
			if err != nil {
				break
			}
			next++
		}
	}
	if err == nil && next != end {
		err = fmt.Errorf("pack: plan: shard %d: the records end at position %d: want %d to %d", shard, next-1, first, end-1)
	}
	if err == nil {
		err = w.end()
	}
	for i := range w.files {
		if err == nil {
			if err = w.files[i].w.Close(); err != nil {
				err = fmt.Errorf("pack: plan: %s: %w", store.Join(out, w.s.Files[i].Name), err)
			}
			w.s.Files[i].Size, w.s.Files[i].CRC = w.files[i].Size, fmt.Sprintf("%08x", w.files[i].CRC)
		}
	}
	if err != nil {
		return nil, errors.Join(err, w.abort())
	}
	w.s.Entries = end - first
	b, err := json.MarshalIndent(w.s, "", "  ")
	if err == nil {
		err = store.WriteFile(ctx, p.files, store.Join(out, base+summaryEnd), append(b, '\n'))
	}
	if err != nil {
		return nil, fmt.Errorf("pack: plan: %w", err)
	}
	return w.s, nil
}

// planShardWriter writes the records of a shard.
type planShardWriter struct {
	p     *Plan
	s     *PlanShard
	files [2]summedFile // the shard and its index
	rec   *recordio.IndexedWriter
	tar   *webdataset.TarWriter
	keys  map[string]bool
	index webdataset.Index
}

// summedFile is a file with its size and checksum.
type summedFile struct {
	fileState
	w *store.Writer
}

// Write implements io.Writer.
func (f *summedFile) Write(b []byte) (int, error) {
	f.add(b)
	return f.w.Write(b)
}

func (w *planShardWriter) begin() (err error) {
	if w.p.Output == PlanRecordIO {
		w.rec, err = recordio.NewIndexedWriter(&w.files[0], &w.files[1], 0)
		return err
	}
	w.keys = map[string]bool{}
	w.tar, err = webdataset.NewTarWriter(&w.files[0], webdataset.TarOptions{})
	return err
}

func (w *planShardWriter) add(r *Record) error {
	bad := func(kind, path, why string) error {
		w.s.Bad = append(w.s.Bad, BadRecord{r.Position, path, kind, why})
		return nil
	}
	if r.Bad != "" {
		return bad(r.Bad, r.Path, r.Why)
	}
	invalid := fmt.Errorf("pack: plan: position %d: data of %d bytes that Record did not make for %v", r.Position, len(r.Data), w.p.Output)
	if w.rec != nil {
		const idAt = 8
		if len(r.Data) < idAt+8 {
			return invalid
		}
		if err := w.rec.WriteKey(int64(binary.LittleEndian.Uint64(r.Data[idAt:])), r.Data); err != nil {
			return fmt.Errorf("pack: plan: %w", err)
		}
		w.s.Records++
		return nil
	}
	n, size := binary.Uvarint(r.Data)
	if size <= 0 || n > uint64(len(r.Data)-size) {
		return invalid
	}
	key := string(r.Data[size:][:n])
	if w.keys[key] {
		return bad(BadDuplicate, r.Path, fmt.Sprintf("its key %q is that of an earlier sample of the shard", key))
	}
	w.keys[key] = true
	data := r.Data[size+int(n):]
	at := w.files[0].Size
	if _, err := w.files[0].Write(data); err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	w.index.Entries = append(w.index.Entries, webdataset.Entry{Key: key, Offset: at, Size: int64(len(data)), CRC: crc32.Checksum(data, castagnoli)})
	w.s.Records++
	return nil
}

// end writes the end of a tar file and its index.
func (w *planShardWriter) end() error {
	if w.tar == nil {
		return nil
	}
	// A tar file is padded to a multiple of 20 blocks.
	const block, record = 512, 20 * 512
	pad := 2 * block
	for (w.files[0].Size+int64(pad))%record != 0 {
		pad += block
	}
	if _, err := w.files[0].Write(make([]byte, pad)); err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	w.index.Size = w.files[0].Size
	b, err := w.index.AppendText(nil)
	if err == nil {
		_, err = w.files[1].Write(b)
	}
	if err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	return nil
}

func (w *planShardWriter) abort() (err error) {
	for _, f := range w.files {
		if f.w != nil {
			err = errors.Join(err, f.w.Abort())
		}
	}
	return err
}

// Packed returns the summary of a shard in the folder out if all of the shard
// is there: a summary of this plan, and files of the sizes that it states. With
// verify it also compares their checksums. Otherwise it returns nil and the
// reason. An error means that the store does not answer, or wraps ErrOther: the
// shard belongs to another plan.
func (p *Plan) Packed(ctx context.Context, out string, shard int, verify bool) (s *PlanShard, why string, err error) {
	s, why, err = p.summary(ctx, out, shard)
	if s == nil || err != nil {
		return nil, why, err
	}
	for _, f := range s.Files {
		name := store.Join(out, f.Name)
		if verify {
			sum, err := sumStored(ctx, p.files, name)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, f.Name + " is missing", nil
			}
			if err != nil {
				return nil, "", fmt.Errorf("pack: plan: %s: %w", name, err)
			}
			if got := fmt.Sprintf("%08x", sum.CRC); sum.Size != f.Size || got != f.CRC {
				return nil, fmt.Sprintf("%s has %d bytes and checksum %s: its summary states %d and %s", f.Name, sum.Size, got, f.Size, f.CRC), nil
			}
			continue
		}
		i, err := p.files.Stat(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, f.Name + " is missing", nil
		}
		if err != nil {
			return nil, "", fmt.Errorf("pack: plan: %w", err)
		}
		if i.Size != f.Size {
			return nil, fmt.Sprintf("%s has %d bytes: its summary states %d", f.Name, i.Size, f.Size), nil
		}
	}
	return s, "", nil
}

// summary reads the summary of a shard. It is nil, with the reason, if it does
// not exist or is damaged.
func (p *Plan) summary(ctx context.Context, out string, shard int) (*PlanShard, string, error) {
	name := p.base(shard) + summaryEnd
	b, err := store.ReadFile(ctx, p.files, store.Join(out, name), nil, maxSummary)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "it was not packed", nil
	case err != nil:
		return nil, "", fmt.Errorf("pack: plan: %w", err)
	}
	s, err := p.parseSummary(b, shard)
	switch {
	case errors.Is(err, ErrOther):
		return nil, "", fmt.Errorf("pack: plan: %s: %w", store.Join(out, name), err)
	case err != nil:
		return nil, fmt.Sprintf("%s: %v", name, err), nil
	}
	return s, "", nil
}

// parseSummary reads a summary. A summary of another plan is an ErrOther.
func (p *Plan) parseSummary(b []byte, shard int) (*PlanShard, error) {
	s := &PlanShard{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("not a summary: %w", err)
	}
	first, end := p.Range(shard)
	suffixes := p.suffixes()
	switch {
	case s.Version != shardVersion:
		return nil, fmt.Errorf("a summary of version %d: this build reads version %d", s.Version, shardVersion)
	case s.Plan != p.Digest:
		return nil, fmt.Errorf("%w: the shard is of the plan %.16s…: want %.16s…", ErrOther, s.Plan, p.Digest)
	case s.Shard != shard || s.Entries != end-first || s.Records != s.Entries-int64(len(s.Bad)) || len(s.Files) != len(suffixes):
		return nil, fmt.Errorf("not a summary of shard %d", shard)
	}
	for i, f := range s.Files {
		if f.Name != p.base(shard)+suffixes[i] || f.Size < 0 || len(f.CRC) != 8 {
			return nil, fmt.Errorf("not a summary of shard %d: file %q", shard, f.Name)
		}
	}
	return s, nil
}

// sumStored reads a file of a store and returns its size and checksum.
func sumStored(ctx context.Context, files store.Opener, name string) (s fileState, err error) {
	f, err := files.Open(ctx, name)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, 1<<20)
	for s.Size < f.Size() {
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		n, err := f.ReadAt(b[:min(int64(len(b)), f.Size()-s.Size)], s.Size)
		s.add(b[:n])
		if err != nil && (err != io.EOF || n == 0) {
			return s, err
		}
	}
	return s, nil
}
