// Package job runs a preprocessing over many images, in order, and writes the
// tensors. Another run goes on where an interrupted one ended.
//
//	p, err := inferprep.Open("model/")
//	j := job.Job{
//		Preprocessor: p,
//		Inputs:       job.Paths("photos/", "more.tar"),
//		To:           job.Sink{Dir: "tensors"},
//		Existing:     job.ByName,
//	}
//	s, err := j.Run(ctx)
//
// Inputs are files, folders, globs, tar and record files, pipes, URIs of
// stores, lists of them, and images in memory. A Sink writes files of one
// image, batches, shards or a stream. Results arrive in the order of the
// inputs, and the files are the same for any number of jobs.
//
// As many images are computed at once as the Preprocessor's Options say. Memory
// is bounded by its limits, and by as much again for the bytes of the inputs
// and for tensors that wait for those before them.
//
// The package links every format of images and records. A program that reads
// URIs imports the packages of its stores.
package job

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"slices"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/datagraph"
	_ "github.com/infer-prep/infer-prep/records/all" // every record format
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Job describes a run. Its fields must not change while it runs.
type Job struct {
	// Preprocessor turns each image into tensors. Its graph takes an encoded
	// image. It is required.
	Preprocessor *inferprep.Preprocessor
	// Inputs are the images. See Input.
	Inputs []Input
	// Stream, if not nil, makes the inputs instead of Inputs, when they are
	// wanted. Each is one image: a file that Path names, or Data. It must end
	// soon after ctx.
	Stream func(ctx context.Context) iter.Seq[Input]
	// Files opens files and lists folders. Default: store.URI.
	Files store.Opener
	// Stdin is what the path "-" reads. Default: os.Stdin.
	Stdin io.Reader
	// KeepPath names outputs by the whole path of an input, without a leading
	// / or ../, instead of the part below it.
	KeepPath bool

	// To says where the tensors go. The zero value keeps them in the results.
	To Sink
	// Existing says which images are done already. Default: none.
	Existing Existing
	// Key states what makes the tensors besides the graph, such as the version
	// of a model, for ByContent: another key makes all images anew.
	Key string
	// Report is a file with a JSON object for each input, one a line, as
	// ReadList takes it. Default: none.
	Report string
	// Message returns the text of an error in the report. Default: its own.
	Message func(err error) string

	// Compute, if not nil, runs instead of the Preprocessor's graph, for
	// example on a device or with a model. It calls use once with the outputs,
	// which are valid until use returns, and returns its error. Several
	// goroutines call it; it bounds memory and runs at once with
	// Preprocessor.Pool.
	Compute func(ctx context.Context, image *tensor.Tensor, use func(out []*tensor.Tensor) error) error
	// Columns describes the outputs of Compute, of which all are written.
	// Default: those of the Preprocessor.
	Columns []datagraph.Column

	// OnResult, if not nil, is called with each result, in order and from one
	// goroutine. Its error ends the run.
	OnResult func(Result) error
	// Progress, if not nil, is called at the start and after each input, with
	// the number of inputs that were processed. total is -1 if unknown: with
	// containers and streams. It runs on OnResult's goroutine.
	Progress func(done, total int)
}

// The errors of Run and Validate, for errors.Is.
var (
	// ErrOption reports an invalid field of a Job. The error is a *FieldError.
	ErrOption = errors.New("invalid option")
	// ErrImages reports a complete run in which images failed.
	ErrImages = errors.New("images failed")
	// ErrNoImages reports a run that found no image.
	ErrNoImages = errors.New("no images found")
)

// Existing says how a run finds the images that have their outputs.
type Existing string

// The values of Existing.
const (
	// ByName skips images whose output files exist, or that are in a batch.
	ByName Existing = "name"
	// ByContent also compares the image, the graph and Key with those that made
	// the output. It keeps a list in the output folder, so the earlier run must
	// have been one of ByContent, too.
	ByContent Existing = "content"
)

// Status is what became of an input.
type Status string

// The statuses.
const (
	Done     Status = "done"
	Failed   Status = "failed"
	Skipped  Status = "skipped" // no image; see Result.Why
	Present  Status = "present" // it has its outputs already
	Dropped  Status = "dropped" // in the last batch, which is not full
	Pending  Status = "pending" // only in a report: the run ended before it
	endOfRun Status = "end"     // only in a report: the last line
)

// Result is what became of an input.
type Result struct {
	Path   string // of the file; of a container and the image in it, with a slash between
	Name   string // of the outputs, below the folder
	In     string // the path of the container that holds it
	Status Status
	Why    string // why it was skipped
	// Suspect reports that a skipped file could be expected to be an image, by
	// its extension or because it is of a known format.
	Suspect bool
	Err     error // of a failed input; it begins with Path unless it is Input.Err
	Kind    Kind  // of Err
	Outputs []Output
	// Tensors are the outputs of a run without a folder or writer. The caller
	// owns them.
	Tensors []*tensor.Tensor
	Labels  []Label // with Sink.Labels
}

// Summary counts the inputs of a run by their status.
type Summary struct {
	Total                                   int // -1 if unknown, 0 if the run ended before the inputs were found
	Done, Failed, Skipped, Present, Dropped int
	// First is the error of the first image that failed.
	First error
}

// Run runs the job. Images that fail do not end it: Run then returns an
// ErrImages, which wraps the first failure. When ctx ends, Run finishes the
// images that were begun, begins no others and returns ctx's error. A full disk
// ends the run, too.
func (j *Job) Run(ctx context.Context) (Summary, error) {
	r, err := j.newRun()
	if err != nil {
		return Summary{}, err
	}
	l := find(ctx, j.files(), j.Inputs, j.To.Dir, j.KeepPath)
	defer l.Close()
	l.For(j.Preprocessor.Pool().Plan().Graph())
	l.findContainers()
	if err := ctx.Err(); err != nil {
		return Summary{}, err
	}
	r.inputs = l.Files
	if j.Stream == nil && !slices.ContainsFunc(l.Files, func(in File) bool { return in.Err == nil }) {
		return r.nothing()
	}
	if j.To.Dir != "" {
		defer enter(j.To.Dir)()
	}
	if err := r.sink.ready(ctx); err != nil {
		return Summary{}, err
	}
	if err := r.prepare(ctx, l); err != nil {
		return Summary{}, err
	}
	if r.report, err = newReport(j.Report, j.Message); err != nil {
		return Summary{}, errors.Join(err, r.existing.close())
	}
	return r.run(ctx)
}

// files returns the store of the inputs.
func (j *Job) files() store.Opener {
	if j.Files == nil {
		return store.URI
	}
	return j.Files
}

// stdin returns what the input "-" reads.
func (j *Job) stdin() io.Reader {
	if j.Stdin == nil {
		return os.Stdin
	}
	return j.Stdin
}

// Paths returns the inputs of paths and URIs.
func Paths(names ...string) (l []Input) {
	for _, n := range names {
		l = append(l, Input{Path: n})
	}
	return l
}
