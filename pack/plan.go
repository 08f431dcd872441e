package pack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"path"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
)

// ErrPlan reports an invalid plan: of another version or another build, or with
// a listing that is damaged or belongs to another plan.
var ErrPlan = errors.New("invalid plan")

// PlanOutput is the kind of the shards of a plan.
type PlanOutput uint8

const (
	// PlanRecordIO makes RecordIO files of image records, NAME-00000.rec, each
	// with its index NAME-00000.idx.
	PlanRecordIO PlanOutput = iota
	// PlanShards makes tar files for webdataset, NAME-00000.tar, each with its
	// index NAME-00000.tar.index.
	PlanShards
)

var planOutputNames = []string{"recordio", "webdataset"}

// String returns the name: recordio or webdataset.
func (o PlanOutput) String() string { return enum.String("plan output", planOutputNames, o) }

// Plan divides a data set into shards. Every process that reads the plan packs
// the same bytes into a shard, so many machines pack a data set together and
// share nothing but the plan, the input and the folder of the output.
//
// A plan is a small JSON file and, beside it, the listing: the names of all
// samples, in chunks that belong to one shard each. A process reads only the
// chunks of its shards. docs/format/plan.md describes both files.
//
// Position k of the output holds sample k of the input's order; with a Seed,
// sample i has the position rng.NewPermutation(Count, rng.NewKey(*Seed, 0,
// "pack.plan")).At(i). Shard s holds the positions from s*Count/Shards to
// (s+1)*Count/Shards-1, so sizes of shards differ by at most 1.
//
// [WritePlan] makes a plan and [ReadPlan] reads one. A Plan that was read is
// safe for concurrent use; its fields must not be changed then.
type Plan struct {
	// Output is the kind of the shards. Default: PlanRecordIO.
	Output PlanOutput
	// Name is the start of the names of all files of the output. Default: data.
	Name string
	// Shards is the number of shards, 1 to 1,000,000. Default: the number that
	// gives each at most PerShard samples.
	Shards int
	// PerShard is used by WritePlan if Shards is 0. Default: 2000. It is 0 in a
	// plan that was read.
	PerShard int
	// Seed, if not nil, shuffles the samples.
	Seed *uint64
	// Image says how images are processed. Its Limits also apply to Graph. The
	// fields of InputSamples are not images; they are packed unchanged.
	Image ImageOptions
	// PackLabels packs all labels of a list into image records. Default: only
	// the first. Tar shards have all labels in any case.
	PackLabels bool
	// Graph, if not nil, turns each image into tensors: the fields NAME.npy of
	// a tar shard, as "infer-prep run --format webdataset" writes them. Image
	// then has no effect except for its Limits. Only for PlanShards.
	Graph *datagraph.Graph

	// The following fields are set by WritePlan.

	// FileSamples says that the samples are groups of files, from InputSamples.
	FileSamples bool
	// Root is the folder of the input. Paths of entries are relative to it.
	Root string
	// Count is the number of samples.
	Count int64
	// ClassNames holds the names of the labels 0, 1, …; nil without classes.
	ClassNames []string
	// Digest identifies the plan: 64 hexadecimal digits. It changes with every
	// field above and with every name, label, size, time and version of the
	// listing.
	Digest string

	listing string // the name of the listing, without its folder
	digest  string // of the listing
	// versions reports that the entries of the listing have versions.
	versions bool
	files    store.Opener
	folder   store.Folder
	list     *listReader
	graph    *tensorMaker
	workers  sync.Pool // of *planWorker
}

const (
	planVersion = 1
	// maxPlan bounds the size of plan.json in bytes.
	maxPlan = 64 << 20
	// maxPlanShards bounds the buffers and the directory of the listing.
	maxPlanShards = 1_000_000
	// maxPlanCount keeps products with maxPlanShards below 2^63.
	maxPlanCount = 1 << 40
	// perShard is the default of pack shards, too.
	perShard = 2000
	// planOrder is the path of the key of the permutation.
	planOrder = "pack.plan"
)

// planFile is the JSON form of a plan.
type planFile struct {
	Version    int             `json:"infer_prep_plan"`
	Output     string          `json:"output"`
	Name       string          `json:"name"`
	Root       string          `json:"root"`
	Samples    string          `json:"samples"` // images or files
	Count      int64           `json:"count"`
	Shards     int             `json:"shards"`
	Seed       *uint64         `json:"seed,omitempty"`
	Listing    planListing     `json:"listing"`
	Versions   bool            `json:"versions,omitempty"`
	Image      *planImage      `json:"image,omitempty"`
	Graph      json.RawMessage `json:"graph,omitempty"`
	PackLabels bool            `json:"pack_labels,omitempty"`
	Fast       bool            `json:"lossless_fast,omitempty"`
	Limits     planLimits      `json:"limits"`
	Classes    []string        `json:"classes,omitempty"`
}

type planListing struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// planImage is ImageOptions. It is absent for pass-through.
type planImage struct {
	Encoding   string `json:"encoding"`
	Encoder    string `json:"encoder,omitempty"` // with its version
	Quality    int    `json:"quality"`
	Chroma     string `json:"chroma,omitempty"`
	Color      string `json:"color"`
	CenterCrop bool   `json:"center_crop,omitempty"`
	Resize     int    `json:"resize,omitempty"`
}

type planLimits struct {
	Pixels int64 `json:"pixels"`
	Bytes  int64 `json:"bytes"`
	Scans  int   `json:"scans"`
}

// planChroma holds the names of the values that a plan can have.
var planChroma = map[jpeg.Chroma]string{
	jpeg.Chroma420: "420", jpeg.Chroma422: "422", jpeg.Chroma444: "444", jpeg.Chroma440: "440", jpeg.Chroma411: "411",
}

func planErrorf(name, format string, args ...any) error {
	return fmt.Errorf("pack: %s: %w: %w", name, ErrPlan, fmt.Errorf(format, args...))
}

// fill checks the options of a plan that is to be written, and sets defaults.
func (p *Plan) fill() error {
	p.Name = cmp.Or(p.Name, "data")
	p.PerShard = cmp.Or(p.PerShard, perShard)
	switch {
	case p.PerShard < 1:
		return fmt.Errorf("pack: plan: %d samples per shard: want at least 1", p.PerShard)
	case p.Shards < 0 || p.Shards > maxPlanShards:
		return fmt.Errorf("pack: plan: %d shards: want 1 to %d", p.Shards, maxPlanShards)
	}
	return p.validate()
}

// validate checks what a plan says, and compiles its graph.
func (p *Plan) validate() error {
	if err := p.Image.fill(); err != nil {
		return err
	}
	for _, c := range p.ClassNames {
		if strings.ContainsAny(c, "\r\n") {
			return fmt.Errorf("pack: plan: class %q: line end in the name", c)
		}
	}
	switch {
	case p.Output > PlanShards:
		return fmt.Errorf("pack: plan: output %d: want recordio or webdataset", p.Output)
	case !validPlanName(p.Name):
		return fmt.Errorf("pack: plan: name %q: want the start of a file's name, without slashes, a dot in front or control characters", p.Name)
	case p.FileSamples && p.Output != PlanShards:
		return errors.New("pack: plan: samples of files: want tar shards, image records hold one image each")
	case p.FileSamples && (p.Graph != nil || p.Image.Encoding != PassThrough || p.Image.Fast):
		return errors.New("pack: plan: samples of files are packed unchanged: want images to process")
	case p.PackLabels && p.Output != PlanRecordIO:
		return errors.New("pack: plan: all labels are packed: want RecordIO, tar shards have them in any case")
	case p.Graph == nil:
		return nil
	case p.Image.Fast:
		return errors.New("pack: plan: a graph makes tensors of images: want no lossless rewriting")
	case p.Output != PlanShards:
		return errors.New("pack: plan: a graph: want tar shards, image records hold no tensors")
	}
	p.Image = ImageOptions{Encoding: PassThrough, Limits: p.Image.Limits}
	m, err := newTensorMaker(p.Graph, p.Image.Limits)
	if err != nil {
		return fmt.Errorf("pack: plan: %w", err)
	}
	p.graph = m
	return nil
}

func validPlanName(s string) bool {
	return s != "" && len(s) <= 128 && s[0] != '.' && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|%`, r)
	})
}

// marshal returns plan.json and sets the digest.
func (p *Plan) marshal() ([]byte, error) {
	f := planFile{
		Version: planVersion, Output: p.Output.String(), Name: p.Name, Root: p.Root, Count: p.Count, Shards: p.Shards,
		Seed: p.Seed, Listing: planListing{p.listing, p.digest}, Versions: p.versions, PackLabels: p.PackLabels, Classes: p.ClassNames,
		Fast: p.Image.Fast, Limits: planLimits(p.Image.Limits), Samples: "images",
	}
	if p.FileSamples {
		f.Samples = "files"
	}
	if i := p.Image; i.Encoding != PassThrough {
		f.Image = &planImage{Encoding: i.Encoding.String(), Quality: i.Quality, Chroma: planChroma[i.Chroma], Color: i.Color.String(), CenterCrop: i.CenterCrop, Resize: i.Resize}
		if i.Encoding == JPEG {
			f.Image.Encoder = i.version()
		}
	}
	if p.Graph != nil {
		g, err := p.Graph.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("pack: plan: %w", err)
		}
		f.Graph = g
	}
	b, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("pack: plan: %w", err)
	}
	sum := sha256.Sum256(b)
	p.Digest = hex.EncodeToString(sum[:])
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		return nil, fmt.Errorf("pack: plan: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// parsePlan reads plan.json. The name is for errors.
func parsePlan(name string, b []byte) (*Plan, error) {
	var version struct {
		Version *int `json:"infer_prep_plan"`
	}
	b, err := bom.Cut(b)
	if err != nil {
		return nil, planErrorf(name, "%w", err)
	}
	if err := json.Unmarshal(b, &version); err != nil {
		return nil, planErrorf(name, "%w: want the JSON that pack plan writes", err)
	}
	switch {
	case version.Version == nil:
		return nil, planErrorf(name, `no "infer_prep_plan": want the JSON that pack plan writes`)
	case *version.Version != planVersion:
		return nil, planErrorf(name, "version %d: this build reads version %d", *version.Version, planVersion)
	}
	var f planFile
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, planErrorf(name, "%w", err)
	}
	p := &Plan{
		Name: f.Name, Root: f.Root, Count: f.Count, Shards: f.Shards, Seed: f.Seed, PackLabels: f.PackLabels, ClassNames: f.Classes,
		listing: f.Listing.File, digest: f.Listing.SHA256, versions: f.Versions,
		Image: ImageOptions{Encoding: PassThrough, Fast: f.Fast, Limits: codec.Limits(f.Limits)},
	}
	var ok bool
	if p.Output, ok = named[PlanOutput](planOutputNames, f.Output); !ok {
		return nil, planErrorf(name, "output %q: want recordio or webdataset", f.Output)
	}
	if p.FileSamples = f.Samples == "files"; !p.FileSamples && f.Samples != "images" {
		return nil, planErrorf(name, "samples %q: want images or files", f.Samples)
	}
	if i := f.Image; i != nil {
		var known [3]bool
		p.Image.Encoding, known[0] = named[Encoding](encodingNames[:PassThrough], i.Encoding)
		p.Image.Color, known[1] = named[Color](colorNames, i.Color)
		known[2] = i.Chroma == "" && p.Image.Encoding == PNG
		for c, n := range planChroma {
			if n == i.Chroma {
				p.Image.Chroma, known[2] = c, true
			}
		}
		if known != [3]bool{true, true, true} {
			return nil, planErrorf(name, "image: encoding %q, color %q, chroma %q: unknown value", i.Encoding, i.Color, i.Chroma)
		}
		p.Image.Quality, p.Image.CenterCrop, p.Image.Resize = i.Quality, i.CenterCrop, i.Resize
		if p.Image.Encoding == JPEG {
			if p.Image.Encoder, ok = encoderOf(i.Encoder); !ok {
				return nil, planErrorf(name, "encoder %q: %w: want one of %s, which write other bytes", i.Encoder, ErrEncoder, strings.Join(versions(), ", "))
			}
		}
	}
	if f.Graph != nil {
		p.Graph = new(datagraph.Graph)
		if err := p.Graph.UnmarshalJSON(f.Graph); err != nil {
			return nil, planErrorf(name, "%w", err)
		}
	}
	switch {
	case p.Count < 1 || p.Count > maxPlanCount:
		return nil, planErrorf(name, "count %d: want 1 to %d", p.Count, int64(maxPlanCount))
	case p.Shards < 1 || p.Shards > maxPlanShards || int64(p.Shards) > p.Count:
		return nil, planErrorf(name, "shards %d: want 1 to %d, and at most the count of %d", p.Shards, maxPlanShards, p.Count)
	case p.listing == "" || path.Base(p.listing) != p.listing || strings.ContainsAny(p.listing, `\:`) || p.listing == "." || p.listing == "..":
		return nil, planErrorf(name, "listing %q: want the name of a file beside the plan", p.listing)
	}
	if sum, err := hex.DecodeString(p.digest); err != nil || len(sum) != sha256.Size {
		return nil, planErrorf(name, "listing: sha256 %q: want 64 hexadecimal digits", p.digest)
	}
	if err := p.validate(); err != nil {
		return nil, planErrorf(name, "%w", err)
	}
	if _, err := p.marshal(); err != nil { // sets the digest
		return nil, err
	}
	return p, nil
}

// named returns the value of a name.
func named[T ~uint8](names []string, name string) (T, bool) {
	for i, n := range names {
		if n == name {
			return T(i), true
		}
	}
	return 0, false
}

// PlanRead are the options of ReadPlan. The zero value is ready for use.
type PlanRead struct {
	// Root replaces the plan's folder of the input, for machines that have it
	// at another place. Default: the plan's.
	Root string
	// Limits are the largest that the plan may have. Default: those of
	// codec.DefaultLimits.
	Limits codec.Limits
}

// validateLimits returns an error if a limit of a plan is above that of the
// caller.
func validateLimits(l, most codec.Limits) error {
	l, most = l.WithDefaults(), most.WithDefaults()
	for _, x := range []struct {
		what    string
		n, most int64
	}{{"pixels", l.Pixels, most.Pixels}, {"bytes", l.Bytes, most.Bytes}, {"scans", int64(l.Scans), int64(most.Scans)}} {
		if x.most > 0 && (x.n < 0 || x.n > x.most) {
			return fmt.Errorf("it allows images %d %s, and the caller %d (--limit-%s, PlanRead.Limits); -1 is no limit", x.n, x.what, x.most, x.what)
		}
	}
	return nil
}

// ReadPlan reads a plan and opens its listing and its input. files opens all of
// them, and later the output: usually store.URI. store.AllowOutside(files)
// permits paths of a list that lead out of the input's folder. An invalid plan
// is an ErrPlan. The caller closes the plan.
func ReadPlan(ctx context.Context, files store.Opener, name string, o PlanRead) (_ *Plan, err error) {
	b, err := store.ReadFile(ctx, files, name, nil, maxPlan)
	if errors.Is(err, store.ErrTooLarge) {
		return nil, planErrorf(name, "%w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("pack: plan: %w", err)
	}
	p, err := parsePlan(name, b)
	if err != nil {
		return nil, err
	}
	if err := validateLimits(p.Image.Limits, o.Limits); err != nil {
		return nil, planErrorf(name, "%w", err)
	}
	if o.Root != "" {
		p.Root = o.Root
	}
	p.files = files
	p.list, err = openListing(ctx, files, store.Join(store.Dir(name), p.listing), p)
	if err != nil {
		return nil, err
	}
	if p.folder, err = store.OpenFolder(ctx, files, p.Root); err != nil {
		return nil, errors.Join(fmt.Errorf("pack: plan: the input's folder: %w", err), p.list.close())
	}
	return p, nil
}

// Close closes the open files.
func (p *Plan) Close() error { return errors.Join(p.list.close(), p.folder.Close()) }

// Range returns the positions of a shard: from first on, and below end.
func (p *Plan) Range(shard int) (first, end int64) {
	n, s := uint64(p.Count), uint64(p.Shards)
	return int64(uint64(shard) * n / s), int64((uint64(shard) + 1) * n / s)
}

// shardOf returns the shard of a position.
func (p *Plan) shardOf(position int64) int {
	return int((uint64(position+1)*uint64(p.Shards) - 1) / uint64(p.Count))
}

// order returns the function from a sample's number to its position.
func (p *Plan) order() func(i int64) int64 {
	if p.Seed == nil {
		return func(i int64) int64 { return i }
	}
	perm := rng.NewPermutation(uint64(p.Count), rng.NewKey(*p.Seed, 0, planOrder))
	return func(i int64) int64 { return int64(perm.At(uint64(i))) }
}

// Part returns the shards of part i of n: from first on, and below end. Parts
// are contiguous, and their sizes differ by at most 1. It returns an error
// unless 0 <= i < n.
func (p *Plan) Part(i, n int) (first, end int, err error) {
	if i < 0 || n < 1 || i >= n {
		return 0, 0, fmt.Errorf("pack: part %d of %d: want 0 <= part < parts", i, n)
	}
	at := func(i int) int {
		hi, lo := bits.Mul64(uint64(i), uint64(p.Shards))
		q, _ := bits.Div64(hi, lo, uint64(n))
		return int(q)
	}
	return at(i), at(i + 1), nil
}

// Entry is a sample of a plan before it is read. Its fields are plain values,
// so that engines can send it to other processes.
type Entry struct {
	Shard    int
	Position int64 // in the output, from 0
	// Number is the sample's number: in the input's order, from 0, or in a .lst
	// file. It is the ID of an image record and its key in the .idx file.
	Number uint64
	Labels []float32
	// Files holds one image, or the files of a sample (InputSamples).
	Files []EntryFile
}

// EntryFile is a file of an Entry.
type EntryFile struct {
	Path string // relative to the plan's Root, with slashes
	// Size is in bytes, and Modified in nanoseconds since 1970, when the input
	// was listed. -1 and 0 mean unknown: the input is a list.
	Size, Modified int64
	// Version is a digest of the version that the store gave the file when it
	// was listed, such as an ETag. 0 means that it gave none.
	Version uint64
}

// digestVersion returns the form of a version in a listing: the first 8 bytes
// of its SHA-256. It keeps listings small and bounds their entries.
func digestVersion(version string) uint64 {
	if version == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(version))
	return binary.LittleEndian.Uint64(sum[:])
}

// Entries reads the entries of a shard, in the order of their positions. It
// reads the shard's part of the listing at the start of the iteration and
// returns an error, which wraps ErrPlan if that part is damaged, at most once
// and last. The iteration holds the shard's part of the listing in memory, some
// 60 bytes for each entry, and nothing of other shards.
func (p *Plan) Entries(ctx context.Context, shard int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if shard < 0 || shard >= p.Shards {
			yield(Entry{}, fmt.Errorf("pack: plan: shard %d: want 0 to %d", shard, p.Shards-1))
			return
		}
		l, err := p.list.shard(ctx, shard)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, at := range l.places {
			e, _, err := parseEntry(l.raw[at.from:], l.first, p.versions)
			if err != nil { // shard has parsed it
				yield(Entry{}, p.list.corrupt("%w", err))
				return
			}
			e.Shard = shard
			if !yield(e, nil) {
				return
			}
		}
	}
}
