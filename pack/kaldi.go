package pack

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/records/kaldi"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// The names of the fields that pack_data writes.
const (
	matrixField = "mat.npy"
	textField   = "label.txt"
)

// KaldiFile is a script, or a file with a line of text per key, and the name of
// its field.
type KaldiFile struct{ Field, File string }

// ParseKaldiFile parses FIELD=FILE, or FILE with the given default field. Text
// with a slash before the = is part of the file.
func ParseKaldiFile(s, field string) (KaldiFile, error) {
	if a, b, ok := strings.Cut(s, "="); ok && !strings.ContainsAny(a, `/\`) {
		field, s = a, b
	}
	if s == "" {
		return KaldiFile{}, fmt.Errorf("pack: %q: want FILE or FIELD=FILE", s)
	}
	if key, ext, ok := webdataset.KeyExt("k." + field); !ok || key != "k" || ext != field || field == "" || strings.ContainsFunc(field, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return KaldiFile{}, fmt.Errorf("pack: field %q: want a name in lower case, for example %s", field, matrixField)
	}
	return KaldiFile{field, s}, nil
}

// ParseScript is ParseKaldiFile for a script. The default field is mat.npy.
func ParseScript(s string) (KaldiFile, error) { return ParseKaldiFile(s, matrixField) }

// ParseLabels is ParseKaldiFile for labels. The default field is label.txt.
func ParseLabels(s string) (KaldiFile, error) { return ParseKaldiFile(s, textField) }

// KaldiOptions names the input of KaldiSamples.
type KaldiOptions struct {
	// Scripts lists the fields of the samples; the first field determines their
	// order. Several scripts of one field are concatenated. A field named npy
	// or *.npy becomes an array in NumPy's format: a matrix or vector as
	// float32, or a vector of int32. Any other field keeps the bytes: of the
	// object in an archive, or of the file if the script names a file without
	// an offset.
	Scripts []KaldiFile
	// Labels lists files with a key and a text per line. Surrounding blanks of
	// the text are removed.
	Labels []KaldiFile
	// Segments, if not empty, is a file with lines
	//
	//	KEY RECORDING FROM TO [CHANNEL]
	//
	// The scripts of field wav then list recordings, and the samples are parts
	// of them, from FROM to TO in seconds; TO -1 means the end. Reference:
	// Kaldi's extract-segments, with its rules for segments that are too short
	// or too long.
	Segments string
	// Lengths, if not empty, is a file with a key and a number per line, for
	// example utt2num_frames or utt2dur. Default: the length of the first
	// field, which is the number of rows of a matrix, elements of a vector or
	// samples of a sound.
	Lengths string
	// Store opens all files. Default: store.Local.
	Store store.Opener
}

// object locates a field of a sample.
type object struct {
	files  store.Opener
	script *kaldi.Script
	entry  int
	cut    *segment
}

type segment struct {
	recording string
	from, to  float64 // seconds; to is -1 for the end
	channel   int     // -1: the only channel
}

// waveField is the field that Segments divides.
const waveField = "wav"

// KaldiSamples returns samples of Kaldi's archives and waves with labels, as
// the function pack_data of CAT (thu-spmi, version 2) packs them. With the
// fields wav and txt they are those of wenet's make_shard_list.py.
//
// Every sample has all fields. A key that some files lack, a duplicate key, and
// a key that webdataset would read as another key, such as one with a dot, are
// invalid. A command in a script is a kaldi.PipeError.
func KaldiSamples(ctx context.Context, o KaldiOptions) (*Samples, error) {
	if len(o.Scripts) == 0 {
		return nil, errors.New("pack: no script: want at least one")
	}
	if o.Store == nil {
		o.Store = store.Local
	}
	k := &kaldiSamples{files: o.Store, h: sha256.New(), objects: map[string]map[string]object{}, texts: map[string]map[string]string{}, noted: map[string]bool{}}
	s := &Samples{}
	if err := k.load(ctx, s, o); err != nil {
		return nil, errors.Join(err, k.closeScripts())
	}
	s.read, s.close = k.read(s), k.closeScripts
	s.length = func(ctx context.Context, i int) (float64, error) { return k.length(ctx, s.keys[i]) }
	s.given = k.lengths != nil
	s.digest = k.h.Sum(nil)
	return s, nil
}

type kaldiSamples struct {
	files   store.Opener
	scripts []*kaldi.Script
	fields  []string                     // names of the fields of objects, in order
	labels  []string                     // names of the fields of texts, in order
	objects map[string]map[string]object // by field and key
	texts   map[string]map[string]string // by field and key
	lengths map[string]float64           // nil: lengths are measured
	noted   map[string]bool              // files whose size and time h covers
	h       hash.Hash
}

func (k *kaldiSamples) closeScripts() error {
	var errs []error
	for _, s := range k.scripts {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

func isArray(field string) bool { return field == "npy" || strings.HasSuffix(field, ".npy") }

// note adds size and time of a file to the digest, so that a pack resumes only
// with unchanged files.
func (k *kaldiSamples) note(ctx context.Context, name string) {
	if k.noted[name] {
		return
	}
	k.noted[name] = true
	if i, err := k.files.Stat(ctx, name); err == nil {
		sourceFile{name, i.Size, i.Modified.UnixNano()}.note(k.h)
	}
}

func (k *kaldiSamples) load(ctx context.Context, s *Samples, o KaldiOptions) error {
	var order []string // the keys of the first field
	for _, f := range o.Scripts {
		fmt.Fprintf(k.h, "script %q\n", f)
		k.note(ctx, f.File)
		options := kaldi.Options{}
		if isArray(f.Field) {
			options.DType = tensor.Float32
		}
		script, err := kaldi.OpenScript(ctx, k.files, f.File, options)
		if pipe, ok := errors.AsType[*kaldi.PipeError](err); ok {
			return fmt.Errorf("pack: %s: line %d: %q is %w: %q; run it first and name its output", pipe.File, pipe.Line, pipe.Key, kaldi.ErrPipe, pipe.Command)
		}
		if err != nil {
			return err
		}
		k.scripts = append(k.scripts, script)
		if k.objects[f.Field] == nil {
			k.fields = append(k.fields, f.Field)
			k.objects[f.Field] = map[string]object{}
		}
		for i := range script.Len() {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			e := script.Entry(i)
			k.note(ctx, e.Path)
			if _, twice := k.objects[f.Field][e.Key]; twice {
				s.Invalid = append(s.Invalid, fmt.Errorf("pack: %w: %s: line %d: duplicate key %q", ErrSample, f.File, e.Number, e.Key))
				continue
			}
			k.objects[f.Field][e.Key] = object{files: k.files, script: script, entry: i}
			if f.Field == k.fields[0] {
				order = append(order, e.Key)
			}
		}
	}
	if o.Segments != "" {
		l, err := k.segments(ctx, s, o.Segments)
		if err != nil {
			return err
		}
		if k.fields[0] == waveField {
			order = l
		}
	}
	for _, f := range o.Labels {
		fmt.Fprintf(k.h, "labels %q\n", f)
		if k.objects[f.Field] != nil {
			return fmt.Errorf("pack: field %s: named by both a script and a label", f.Field)
		}
		if k.texts[f.Field] == nil {
			k.labels = append(k.labels, f.Field)
			k.texts[f.Field] = map[string]string{}
		}
		if err := k.lines(ctx, f.File, func(key, text string) error {
			if other, twice := k.texts[f.Field][key]; twice && other != text {
				return fmt.Errorf("duplicate key %q with another text", key)
			}
			k.texts[f.Field][key] = text
			return nil
		}); err != nil {
			return err
		}
	}
	if o.Lengths != "" {
		fmt.Fprintf(k.h, "lengths %q\n", o.Lengths)
		k.lengths = map[string]float64{}
		if err := k.lines(ctx, o.Lengths, func(key, text string) error {
			l, err := strconv.ParseFloat(text, 64)
			if err != nil || !(l >= 0) || math.IsInf(l, 0) {
				return fmt.Errorf("length %q of %q: want a number of at least 0", text, key)
			}
			if other, twice := k.lengths[key]; twice && other != l {
				return fmt.Errorf("duplicate key %q with another length", key)
			}
			k.lengths[key] = l
			return nil
		}); err != nil {
			return err
		}
	}
	k.join(s, order)
	return nil
}

// join selects the keys that have all fields. Other keys are invalid.
func (k *kaldiSamples) join(s *Samples, order []string) {
	taken := map[string]bool{}
	for _, key := range order {
		var lacks []string
		for _, f := range k.fields {
			if _, ok := k.objects[f][key]; !ok {
				lacks = append(lacks, f)
			}
		}
		for _, f := range k.labels {
			if _, ok := k.texts[f][key]; !ok {
				lacks = append(lacks, f)
			}
		}
		if k.lengths != nil {
			if _, ok := k.lengths[key]; !ok {
				lacks = append(lacks, "length")
			}
		}
		taken[key] = true
		name := key + "." + k.fields[0]
		switch got, ext, ok := webdataset.KeyExt(name); {
		case lacks != nil:
			s.Invalid = append(s.Invalid, fmt.Errorf("pack: %w: %q has no %s", ErrSample, key, strings.Join(lacks, ", no ")))
		case !ok:
			s.Invalid = append(s.Invalid, fmt.Errorf("pack: %w: key %q: webdataset cannot read it", ErrSample, key))
		case got != key:
			s.Invalid = append(s.Invalid, fmt.Errorf("pack: %w: key %q: webdataset would read it as key %q and field %q", ErrSample, key, got, ext))
		default:
			s.keys = append(s.keys, key)
		}
	}
	// Report every key of the other files that the first field lacks once.
	more := func(field, key string) {
		if !taken[key] {
			taken[key] = true
			s.Invalid = append(s.Invalid, fmt.Errorf("pack: %w: %q has a %s but no %s", ErrSample, key, field, k.fields[0]))
		}
	}
	for _, f := range k.fields[1:] {
		for _, key := range slices.Sorted(maps.Keys(k.objects[f])) {
			more(f, key)
		}
	}
	for _, f := range k.labels {
		for _, key := range slices.Sorted(maps.Keys(k.texts[f])) {
			more(f, key)
		}
	}
}

// lines calls line for each line of a file of keys and texts.
func (k *kaldiSamples) lines(ctx context.Context, name string, line func(key, text string) error) error {
	k.note(ctx, name)
	if store.IsLocal(k.files, name) && !strings.Contains(name, "://") { // it may be a pipe
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("pack: %w", err)
		}
		return errors.Join(readLines(name, f, line), f.Close())
	}
	f, err := k.files.Open(ctx, name)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	r, _ := store.NewReader(f)
	return errors.Join(readLines(store.Redact(name), r, line), f.Close())
}

// readLines calls line with key and text of each line, separated by blanks as
// Python's str.split does. It ignores empty lines.
func readLines(name string, r io.Reader, line func(key, text string) error) error {
	const maxLine = 16 << 20
	in := bufio.NewScanner(bom.NewReader(r))
	in.Buffer(nil, maxLine)
	n := 0
	for in.Scan() {
		n++
		text := strings.TrimFunc(in.Text(), blank)
		if text == "" {
			continue
		}
		var err error
		if i := strings.IndexFunc(text, blank); !utf8.ValidString(text) {
			err = errors.New("want UTF-8 text")
		} else if i < 0 {
			err = line(text, "")
		} else {
			err = line(text[:i], strings.TrimLeftFunc(text[i:], blank))
		}
		if err != nil {
			return fmt.Errorf("pack: %s:%d: %w", name, n, err)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("pack: %s:%d: %w", name, n+1, err)
	}
	return nil
}

// blank reports whether Python's str.isspace holds.
func blank(c rune) bool { return unicode.IsSpace(c) || 0x1c <= c && c <= 0x1f }

// segments replaces recordings by their parts and returns the order of the
// parts.
func (k *kaldiSamples) segments(ctx context.Context, s *Samples, name string) (order []string, err error) {
	fmt.Fprintf(k.h, "segments %q\n", name)
	recordings := k.objects[waveField]
	if recordings == nil {
		return nil, fmt.Errorf("pack: %s: segments need a script of field %s", name, waveField)
	}
	parts := map[string]object{}
	k.objects[waveField] = parts
	err = k.lines(ctx, name, func(key, text string) error {
		c, err := parseSegment(text)
		if err != nil {
			return err
		}
		r, ok := recordings[c.recording]
		if _, twice := parts[key]; twice {
			s.Invalid = append(s.Invalid, fmt.Errorf("pack: %w: %s: duplicate key %q", ErrSample, name, key))
			return nil
		}
		if !ok {
			s.Invalid = append(s.Invalid, fmt.Errorf("pack: %w: %s: %q: unknown recording %q", ErrSample, name, key, c.recording))
			return nil
		}
		r.cut = c
		parts[key] = r
		order = append(order, key)
		return nil
	})
	return order, err
}

// parseSegment parses the line of a segment after its key.
func parseSegment(text string) (*segment, error) {
	f := strings.Fields(text)
	if len(f) != 3 && len(f) != 4 {
		return nil, fmt.Errorf("%d fields: want a key, a recording, two times and an optional channel", len(f)+1)
	}
	c := &segment{recording: f[0], channel: -1}
	var errs [3]error
	c.from, errs[0] = strconv.ParseFloat(f[1], 64)
	c.to, errs[1] = strconv.ParseFloat(f[2], 64)
	if len(f) == 4 {
		var n uint64
		n, errs[2] = strconv.ParseUint(f[3], 10, 31)
		c.channel = int(n)
	}
	// The bound keeps the number of a sample within int64 at any rate.
	const most = 1e9
	if err := errors.Join(errs[:]...); err != nil || !(c.from >= 0 && c.from <= most) || !(c.to == -1 || c.to > c.from && c.to <= most) {
		return nil, fmt.Errorf("segment %q of %s: want two increasing times, or -1 as the second, and an optional channel", text, c.recording)
	}
	return c, nil
}

func (k *kaldiSamples) read(s *Samples) func(ctx context.Context, i int) (*webdataset.Sample, error) {
	return func(ctx context.Context, i int) (*webdataset.Sample, error) {
		key := s.keys[i]
		x := &webdataset.Sample{Key: key}
		for _, f := range k.fields {
			b, err := k.objects[f][key].bytes(ctx, f)
			if err != nil {
				return nil, err
			}
			x.Fields = append(x.Fields, webdataset.Field{Ext: f, Data: b})
		}
		for _, f := range k.labels {
			x.Fields = append(x.Fields, webdataset.Field{Ext: f, Data: []byte(k.texts[f][key])})
		}
		return x, nil
	}
}

func (o object) bytes(ctx context.Context, field string) ([]byte, error) {
	e := o.script.Entry(o.entry)
	switch {
	case o.cut != nil:
		return o.part(ctx)
	case isArray(field):
		t, err := o.script.Read(ctx, o.entry)
		if err != nil {
			return nil, err
		}
		if t.DType != tensor.Float32 && t.DType != tensor.Int32 {
			return nil, fmt.Errorf("pack: %w: %q in %s: a wave in field %s: want field %s", ErrSample, e.Key, e.Path, field, waveField)
		}
		var b bytes.Buffer
		if err := tensor.WriteNPY(&b, t); err != nil {
			return nil, err
		}
		return b.Bytes(), nil
	case e.Offset == 0 && e.Range == nil:
		return fieldFile(ctx, o.files, e.Path)
	}
	return o.script.Raw(ctx, o.entry)
}

// span returns the samples of the part, as Kaldi's extract-segments computes
// them.
func (o object) span(ctx context.Context) (h kaldi.Header, from, to int, err error) {
	h, err = o.script.Header(ctx, o.entry)
	if err != nil {
		return h, 0, 0, err
	}
	c, e := o.cut, o.script.Entry(o.entry)
	fail := func(format string, args ...any) (kaldi.Header, int, int, error) {
		return h, 0, 0, fmt.Errorf("pack: %w: segment from %v s to %v s of recording %q: %s", ErrSample, c.from, c.to, e.Key, fmt.Sprintf(format, args...))
	}
	if h.Type != kaldi.Wave {
		return fail("%v: want a wave", h.Type)
	}
	// The shortest segment, and how far it may reach beyond the end, in
	// seconds.
	const (
		least     = float32(0.1)
		overshoot = float32(0.5)
	)
	n, channels := h.Shape.At(0), h.Shape.At(1)
	rate := float32(h.Rate)
	start, end := float64(c.from*float64(rate)), float64(n)
	if c.to != -1 {
		end = math.Trunc(c.to * float64(rate))
	}
	switch {
	case start >= float64(n):
		return fail("starts after the %d samples at %d Hz", n, h.Rate)
	case end > float64(n) && end >= float64(n+int(overshoot*rate)):
		return fail("ends more than %v s after the %d samples at %d Hz", overshoot, n, h.Rate)
	}
	from, to = int(start), int(min(end, float64(n)))
	switch {
	case to <= from+int(least*rate):
		return fail("%d samples at %d Hz: want more than %v s", to-from, h.Rate, least)
	case c.channel >= channels:
		return fail("channel %d of %d", c.channel, channels)
	case c.channel < 0 && channels > 1:
		return fail("%d channels: want a segment that names one", channels)
	}
	return h, from, to, nil
}

// part returns the segment as a wave file.
func (o object) part(ctx context.Context) ([]byte, error) {
	h, from, to, err := o.span(ctx)
	if err != nil {
		return nil, err
	}
	t, err := o.script.Samples(ctx, o.entry, from, to)
	if err != nil {
		return nil, err
	}
	if t.Shape.At(1) > 1 { // one channel of several
		v := *t
		v.Shape = v.Shape.With(1, 1)
		v.Data = v.Data[max(o.cut.channel, 0)*v.DType.Size():]
		t = v.Clone()
	}
	const key = "x"
	var b bytes.Buffer
	if err := kaldi.NewWriter(&b, kaldi.WriterOptions{}).WriteWave(key, t, h.Rate); err != nil {
		return nil, err
	}
	return b.Bytes()[len(key)+1:], nil
}

// length returns the length of a sample for Groups.
func (k *kaldiSamples) length(ctx context.Context, key string) (float64, error) {
	if k.lengths != nil {
		return k.lengths[key], nil
	}
	o := k.objects[k.fields[0]][key]
	if o.cut != nil {
		_, from, to, err := o.span(ctx)
		return float64(to - from), err
	}
	h, err := o.script.Header(ctx, o.entry)
	if err != nil {
		if n, ok := o.soundLength(ctx); ok {
			return n, nil
		}
		return 0, err
	}
	return float64(h.Shape.At(0)), nil
}

// soundLength returns the samples of a file that is a sound, but no wave of
// Kaldi's: a FLAC file, or a WAV file of another encoding.
func (o object) soundLength(ctx context.Context) (n float64, ok bool) {
	e := o.script.Entry(o.entry)
	if e.Offset != 0 || e.Range != nil {
		return 0, false
	}
	f, err := o.files.Open(ctx, e.Path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	in, _ := store.NewReader(f)
	r, err := sound.NewReader(in, codec.DefaultLimits())
	if err != nil || r.Header().Samples < 0 {
		return 0, false
	}
	return float64(r.Header().Samples), true
}
