package job

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Sink says where the tensors of a run go, and in which form. The zero value
// keeps them in the results.
type Sink struct {
	// Dir is the output folder, a path or a URI, which is created if it does
	// not exist. A file appears when it is complete and replaces an older one.
	Dir string
	// Writer receives the files instead: one after another in the formats npy
	// and raw, a single shard, or one file.
	Writer io.Writer
	// Format is the name of one of Formats. Default: "npy". A file holds one
	// output, or all outputs of an image; the formats "webdataset", "recordio"
	// and "tfrecord" write shards of many images.
	Format string
	// SideOutputs also writes side outputs, such as a letterbox's scale.
	SideOutputs bool
	// Rename maps outputs to the names of the model's inputs, in formats whose
	// files contain names.
	Rename map[string]string
	// BatchAxis adds an axis of 1 in front, except to outputs that batches
	// concatenate.
	BatchAxis bool
	// BatchSize is the number of images whose tensors a batch joins by the
	// graph's rules, 1 to 1048576; 0 writes no batches. Beside its files, a
	// batch has a list of its images.
	BatchSize int
	// LastBatch says what happens to a last batch of less images: "short", the
	// default, writes it as it is, "pad" repeats its last image, and "drop"
	// leaves it out.
	LastBatch string
	// ShardSamples and ShardBytes end a shard after so many samples or bytes.
	// Default: 2000, and 3e9.
	ShardSamples int
	ShardBytes   int64
	// Force removes the batches, shards or numbered folders of an earlier run,
	// which are an error otherwise.
	Force bool
	// Labels, if not nil, ranks the scores of a classifier.
	Labels *Labels
}

// The values of Sink.LastBatch.
const (
	LastShort = "short"
	LastPad   = "pad"
	LastDrop  = "drop"
)

// MaxBatch is the largest Sink.BatchSize.
const MaxBatch = 1 << 20

// Fields of errors.
const (
	fieldDir       Field = "Sink.Dir"
	fieldWriter    Field = "Sink.Writer"
	fieldFormat    Field = "Sink.Format"
	fieldRename    Field = "Sink.Rename"
	fieldBatchAxis Field = "Sink.BatchAxis"
	fieldBatchSize Field = "Sink.BatchSize"
	fieldForce     Field = "Sink.Force"
	fieldExisting  Field = "Existing"
	fieldStream    Field = "the writer" // in a sentence
)

// of returns the field with a value.
func (f Field) of(value string) Field { return f + Field("="+value) }

// format returns the format.
func (s *Sink) format() (Format, error) {
	name := cmp.Or(s.Format, "npy")
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	names := formatNames(func(Format) bool { return true })
	return Format{}, option("%s: want %s%s", fieldFormat.of(name), orList(names), registry.DidYouMean(name, names))
}

// validate checks the fields that do not depend on the outputs.
func (s *Sink) validate(existing Existing) error {
	f, err := s.format()
	if err != nil {
		return err
	}
	format := fieldFormat.of(f.Name)
	switch {
	case s.BatchSize < 0 || s.BatchSize > MaxBatch:
		return option("%s %d: want 1 to %d", fieldBatchSize, s.BatchSize, MaxBatch)
	case s.BatchAxis && s.BatchSize > 0:
		return option("%s writes batches of one image, named after it: want only one of %[1]s and %s", fieldBatchAxis, fieldBatchSize)
	case s.BatchSize > 0 && f.Shards:
		return option("%s does not apply to %s: a sample is one image, and the reader forms batches", fieldBatchSize, format)
	case !slices.Contains([]string{"", LastShort, LastPad, LastDrop}, s.LastBatch):
		return option("%s %q: want %s, %s or %s", Field("Sink.LastBatch"), s.LastBatch, LastShort, LastPad, LastDrop)
	case s.ShardSamples < 0 || s.ShardBytes < 0:
		return option("%s %d, %s %d: want at least 1", Field("Sink.ShardSamples"), s.ShardSamples, Field("Sink.ShardBytes"), s.ShardBytes)
	case s.Dir != "" && s.Writer != nil:
		return option("%s and %s: want only one of them", fieldDir, fieldWriter)
	case s.Writer != nil && (f.Folder || f.List != ""):
		return option("%s: %s has files and a folder: want %s", fieldWriter, format, fieldDir)
	case f.List != "" && paths.IsURI(s.Dir):
		return option("%s: %s is for programs that read files of this machine: want a folder", fieldDir.of(s.Dir), format)
	}
	return s.validateExisting(f, existing)
}

// validateExisting refuses to go on with an earlier run where that cannot be.
func (s *Sink) validateExisting(f Format, e Existing) error {
	content, format := fieldExisting.of(string(ByContent)), fieldFormat.of(f.Name)
	switch {
	case e == "":
		return nil
	case e != ByName && e != ByContent:
		return option("%s %q: want %s or %s", fieldExisting, e, ByName, ByContent)
	case s.Dir == "":
		return option("%s needs %s", fieldExisting, fieldDir)
	case paths.IsURI(s.Dir) && e == ByContent:
		return option("%s keeps a list in the output folder, which a store cannot: want %s, or a folder", content, fieldExisting)
	case f.Shards:
		return option("%s does not apply to %s: remove what an earlier run wrote with %s", fieldExisting, format, fieldForce)
	case s.BatchSize > 0 && e == ByContent:
		return option("%s applies to files of one image: want %s, or %s to write all batches again", content, fieldExisting, fieldForce)
	case s.BatchSize > 0 && s.Force:
		return option("%s removes the batches that %s goes on with: want only one of them", fieldForce, fieldExisting)
	case f.Numbered:
		return option("%s does not apply to %s: a number stands for another image when images are added", fieldExisting, format)
	}
	return nil
}

// open returns what writes the outputs, the files of one image among it, and
// the batches in files. rules are the batch rules of the outputs.
func (s *Sink) open(c columns, rules []datagraph.Batching, limits codec.Limits, existing bool) (_ sink, files *imageFiles, b *batches) {
	var to sink
	switch {
	case s.Dir == "" && s.Writer == nil:
		to = &results{c}
	case c.format.Shards:
		x := &shards{
			columns: c, dir: s.Dir, files: runStore{store.URI, s.Dir}, stream: s.Writer != nil, force: s.Force,
			count: cmp.Or(s.ShardSamples, 2000), size: cmp.Or(s.ShardBytes, 3e9), keys: digests{},
		}
		if x.stream {
			x.files = streamFile{store.Local, s.Writer}
		}
		to = x
	case s.Writer != nil:
		x := &streamed{columns: c, w: s.Writer}
		to, b = x, &batches{to: x, columns: &x.columns}
	default:
		files = &imageFiles{columns: c, dir: s.Dir, numbers: map[string]int{}, force: s.Force}
		to, b = files, &batches{to: files, columns: &files.columns, files: files}
	}
	if s.BatchSize > 0 && b != nil {
		b.rules, b.count, b.last, b.limit, b.force, b.resume = rules, s.BatchSize, s.LastBatch, limits.Bytes, s.Force, existing
		to, files = b, nil
	} else {
		b = nil
	}
	if s.Labels != nil {
		to = &ranked{to, *s.Labels}
	}
	return to, files, b
}

// sink is the writing half of a run. The workers call write; the goroutine that
// receives the outcomes calls the other methods.
type sink interface {
	// ready creates what the sink writes to and checks that it is writable. ctx
	// bounds all writing to a store.
	ready(ctx context.Context) error
	// write takes an image's outputs on a worker. They are valid until it
	// returns. Files of one image are written here.
	write(name string, out []*tensor.Tensor) (written, error)
	// add takes the outcome of an image that write took without an error, in
	// the order of the inputs. It returns the outcomes that are final now:
	// files of several images are written here, and their outcomes wait for the
	// file. A returned outcome can have an error, which fails its image only;
	// the other error ends the run.
	add(o outcome) ([]outcome, error)
	// close writes the rest after the last outcome and returns the outcomes
	// that were still waiting.
	close() ([]outcome, error)
	// abort discards what is incomplete, of a run that ended early.
	abort() error
}

// written is what a sink knows of an image's outputs.
type written struct {
	results []Output
	// The other fields hold what write prepared for add.
	tensors []*tensor.Tensor // copies
	record  records.Record
	key     string // of the record
	data    []byte
	size    int64 // of these, in bytes

	best []Label // the image's best classes

	// upload, if not nil, writes the files to a store, without the outputs'
	// memory.
	upload func(ctx context.Context) error
}
