package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

type runFlags struct {
	graphFlags
	outside outside
	modelFlags
	topFlags
	out, format, outputs string
	names                []string
	batch, json, quiet   bool
	lines                bool
	existing             string
	report, filesFrom    string
	null, strict         bool
	keepPath             bool
	batchSize            int
	last                 string
	samples              int
	bytes                count
	force                bool
	jobs                 int
}

func (a *app) runCmd() *cobra.Command {
	f := &runFlags{bytes: 3e9}
	cmd := &cobra.Command{
		Use:   "run [--preset NAME | --graph FILE | --bundle FILE | --hf FILE | …] -o DIR IMAGE...",
		Short: "Turn images into tensors",
		Long: `Run turns images into tensors and writes them below DIR, one file or several for
each image.

IMAGE is a file, a folder or a glob with *, ?, [ ] and { }, but not **. Folders are
walked recursively, in order, without DIR. Symbolic links to files are followed wherever
they lead; links to folders inside a folder are not. In folders and globs, run detects
images by their first bytes and skips other files. A file that you name must be an
image. An existing path is not read as a glob.

IMAGE and DIR can be URIs, such as s3://photos/2024, and so can every file and folder of
data that a command reads. "infer-prep help" says which stores there are. In a URI, a
glob applies to the elements of the path. A file of a store appears when it is complete,
and run removes no file of a store.

A tar file (also compressed with gzip, zstd or bzip2) or record file (RecordIO,
MindRecord, TFRecord) that you name, or that a glob matches, is a container: run reads
the images in it and skips what else it holds. cat.jpg of photos.tar becomes
DIR/photos.tar/cat.jpg.npy. Links in a tar file lead to its own members. Below a folder,
containers are skipped like other files.

- is standard input and becomes DIR/stdin.npy. It can be a container, and so can a named
pipe or <(COMMAND) of a shell.

cat.jpg becomes DIR/cat.jpg.npy or, with several outputs, DIR/cat.jpg.OUTPUT.npy. npz
and safetensors files hold all outputs of an image. Files of a folder keep their
relative path: photos/a/cat.jpg becomes DIR/a/cat.jpg.npy. If two images have the same
output file, the second fails. --keep-path names outputs by the whole path of an
argument instead, without a leading / or ../: DIR/photos/a/cat.jpg.npy.

Files of a folder or glob that are left out are counted. Those that look like images, by
their extension or because they are of a known format such as HEIF or SVG, are named
too, and links that are not followed; --strict makes the exit status 1 if there are any.

--skip-existing goes on with an interrupted run: it skips images whose output files
exist, or that are in a batch. --skip-existing=content also compares the image and the
graph with those that made the output; both runs must have the flag. --report FILE
writes what happened to each image, and --files-from FILE runs those again that are not
done.

A file is written completely or not at all, and replaces an older one. An image that
fails leaves older files unchanged. A full disk ends the run.

Tensors have no batch axis unless --batch adds it. Outputs that batches concatenate,
such as patches, have none. --outputs all also writes side outputs, such as a
letterbox's scale and pad.

--batch-size N joins the tensors of N images by the graph's batch rules: it stacks
them, pads and stacks them, or concatenates them. DIR/batch-000000.npy is the first
batch, in the order of the images and without those that fail. DIR/batch-000000.jsonl
lists its images, one JSON object a line, with their rows. --last-batch says what
happens to a last batch of less than N images. An image fails if its tensors do not
fit the others of its batch.

Three formats write the outputs of many images into shards:

  webdataset  DIR/data-00000.tar with members KEY.OUTPUT.npy. KEY is the image's name
              without its extension; a second image with a key fails.
  recordio    DIR/data-00000.rec and its .idx. A record is a safetensors file with the
              outputs; its metadata "key" is the image's name.
  tfrecord    DIR/data-00000.tfrecord. A record is a tf.train.Example: OUTPUT holds the
              elements (little-endian bytes), OUTPUT/shape the sizes, OUTPUT/dtype the
              type and __key__ the image's name.

Batches and shards are the same for any --jobs. Each appears under its name once it is
complete, and only then --json prints the lines of its images. An interrupted run leaves
out what is incomplete. A folder with batches or shards of an earlier run needs --force.

With --lines, run is a worker for another program: it answers each line on standard
input, in order, with a JSON object on one line of standard output. A line is a path, or
one of these, with an "id" that the answer repeats:

  {"path": "photos/cat.jpg", "id": "a"}
  {"image": "BASE64", "id": 7}

The answer is {"line": 1, "id": "a", "outputs": [{"name", "dtype", "shape", "data"}]}, where
data are the elements in base64, row-major and little-endian. With -o DIR the tensors
are written to files, and "file" replaces data. A line that fails has
{"error": {"kind", "message"}} instead of outputs; run goes on and exits with 0 at the
end of standard input. docs/run.md has the details.

-o - writes to standard output: the file of one image, the files of several images one
after another with --format npy or raw, or a single shard.

Some formats are for programs that run models. They name tensors by the model's
inputs, which are the graph's outputs unless --name renames them. onnx-test and
triton files contain shapes: add the model's batch axis with --batch.

  onnx-test   DIR/test_data_set_N/input_I.pb for onnx_test_runner. N counts the images
              in order and skips those that fail; I counts the outputs.
              DIR/test_data_sets.txt lists the image of each number.
  triton      DIR/cat.jpg.json, the body of an inference request (KServe 2, JSON)
  triton-raw  DIR/cat.jpg/INPUT, the elements only, for perf_analyzer's --input-data
  input-list  DIR/cat.jpg.raw, in float32 (or --dtype) and HWC, and DIR/input_list.txt
              for --input_list of snpe-net-run and qnn-net-run. It has one line for
              each image, INPUT:=FILE with --name or several inputs.
  tensorrt    DIR/cat.jpg.raw, and DIR/load_inputs.txt with the value of trtexec's
              --loadInputs for each image: INPUT:FILE

Such a list is written at the end and lists the images that succeeded, with paths
relative to the current folder. An interrupted run writes none.

With --device the graph, or a part of it, runs on another device than the CPU; "graph
plan --device" shows which part, and how exactly. With --model, or with --bundle and
--infer, the model runs on the tensors and run writes the model's outputs instead.
This needs a device that runs models, such as ort:cpu. Each job has its own copy of
the model: use --jobs 1 for a large one, or an option such as ort:cpu,threads=1.

If the bundle has labels and the model has one score for each, run prints the best
labels of each image on standard output, a line for each: path, label and score, with
tabs between them. --top says how many; -o is then optional. Scores are the model's
own, in six digits. --softmax makes probabilities of logits.

At its end run says on standard error how many images it did, and for each output the
number, type and shape of its tensors and where they are; ? is a size that differs.

Exit status: 0 success; 1 some images failed or were missing, each reported on
standard error; 2 invalid flag or graph; 130, 143 or 129 interrupted by SIGINT, SIGTERM or
SIGHUP.`,
		Example: `  infer-prep run --preset imagenet -o tensors photos/
  infer-prep run --hf preprocessor_config.json --batch --format pb -o test_data_set_0 cat.jpg
  infer-prep run --preset imagenet --skip-existing --report done.jsonl -o tensors photos/
  find photos -name '*.jpg' -print0 | infer-prep run --preset clip --files-from - -0 --keep-path -o tensors
  infer-prep run --preset yolo --outputs all --format npz -o tensors 'photos/*.jpg'
  infer-prep run --preset imagenet --batch --format onnx-test --name data_0 -o resnet photos/
  infer-prep run --preset imagenet --batch-size 64 --last-batch pad -o batches photos/
  infer-prep run --preset imagenet --format webdataset -o shards photos/
  infer-prep run --preset imagenet -o - cat.jpg > cat.npy
  infer-prep run --preset imagenet -o tensors https://example.com/cat.jpg
  infer-prep run --preset clip --format webdataset -o s3://work/shards 's3://photos/2024/*/*.jpg'
  infer-prep run --preset clip --json -o tensors photos/ | jq .outputs
  ls photos/*.jpg | infer-prep run --preset clip --lines > answers.jsonl
  infer-prep run --bundle cat.bundle --device ort:cpu --infer -o predictions photos/
  infer-prep run --bundle cat.bundle --device ort:cpu --infer --top 1 --softmax photos/`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runImages(cmd, f, args)
		},
	}
	f.graphFlags.add(cmd)
	f.outside.add(cmd)
	f.modelFlags.add(cmd)
	f.topFlags.add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write the tensors to the folder `DIR`, a path or a URI, which is created if it does not exist; - is standard output")
	fl.StringVar(&f.format, "format", "npy", "write files of this `FORMAT`: npy, npz, raw (the elements only), pb (ONNX TensorProto) or safetensors; for programs that run models: onnx-test, triton, triton-raw, input-list or tensorrt; shards: webdataset, recordio or tfrecord")
	fl.StringArrayVar(&f.names, "name", nil, "rename an output to the model's input, `OUTPUT=INPUT`, in formats with names; repeatable; INPUT alone is enough for a single output")
	fl.StringVar(&f.outputs, "outputs", "main", "`WHICH` outputs to write: main, or all to include side outputs")
	fl.BoolVar(&f.batch, "batch", false, "write batches of one image, in files named after it: add an axis of 1 in front, except to outputs that batches concatenate")
	fl.IntVar(&f.batchSize, "batch-size", 0, "write batches of `N` images, one file or several for each batch, with a list of its images")
	fl.StringVar(&f.last, "last-batch", lastShort, "write the last batch as it is if it has less images (short), repeat its last image (pad), or leave it out (drop); `HOW` is one of these")
	fl.IntVar(&f.samples, "samples-per-file", 2000, "write at most `N` samples to a shard")
	fl.Var(&f.bytes, "bytes-per-file", "end a shard once its samples have that many `BYTES`")
	fl.BoolVar(&f.force, "force", false, "remove the batches, shards or numbered folders of an earlier run from DIR")
	fl.StringVar(&f.existing, "skip-existing", "", "skip images that have their outputs: `HOW` is name, which only looks for the files, or content, which compares images and graph with those of the earlier run")
	fl.Lookup("skip-existing").NoOptDefVal = existingName
	fl.StringVar(&f.filesFrom, "files-from", "", "read more images, folders, globs or URIs from `FILE`, one a line, or from standard input with -; of a report of --report, take the images that are not done")
	fl.BoolVarP(&f.null, "null", "0", false, "the entries of --files-from end with a NUL byte, as find -print0 writes them")
	fl.BoolVar(&f.keepPath, "keep-path", false, "name outputs by the whole path of an argument: photos/cat.jpg becomes DIR/photos/cat.jpg.npy")
	fl.StringVar(&f.report, "report", "", "write a JSON object for each image to `FILE`, one a line: done, skipped or failed, and why")
	fl.BoolVar(&f.strict, "strict", false, "exit with 1 if a folder or glob has files that look like images and are left out")
	noErr(cmd.MarkFlagFilename("files-from"))
	noErr(cmd.MarkFlagFilename("report"))
	complete(cmd, "skip-existing", existingName, existingContent)
	fl.BoolVar(&f.lines, "lines", false, "answer each line on standard input, a path or a JSON object, with a JSON object on standard output")
	fl.BoolVar(&f.json, "json", false, "print one JSON object for each image, one a line")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "process `N` images at once")
	fl.Lookup("jobs").DefValue = "one for each CPU" // help and man pages are the same everywhere
	complete(cmd, "format", formatNames()...)
	complete(cmd, "outputs", "main", "all")
	complete(cmd, "last-batch", lastShort, lastPad, lastDrop)
	noErr(cmd.MarkFlagDirname("output"))
	return cmd
}

func (a *app) runImages(cmd *cobra.Command, f *runFlags, args []string) (err error) {
	if f.device == "help" {
		return a.listDevices()
	}
	switch {
	case f.out == "" && !f.lines && !f.infer:
		return usageErr("no output folder: want -o DIR, or -o - for standard output")
	case len(args) == 0 && !f.lines && f.filesFrom == "":
		return usageErr("no images: want files, folders or globs")
	case f.jobs < 1:
		return usageErr("--jobs %d: want at least 1", f.jobs)
	}
	f.out = paths.TrimFile(f.out)
	if f.report = paths.TrimFile(f.report); paths.IsURI(f.report) {
		return usageErr("--report %s: the report grows line by line: want a file of this machine", f.report)
	}
	if err := errors.Join(oneOf("outputs", f.outputs, "main", "all"), oneOf("format", f.format, formatNames()...), oneOf("last-batch", f.last, lastShort, lastPad, lastDrop)); err != nil {
		return err
	}
	k := slices.IndexFunc(formats, func(x format) bool { return x.name == f.format })
	if f.lines {
		err = f.checkLines(cmd, args, formats[k])
	} else {
		err = f.checkOutput(cmd, a, formats[k])
	}
	if err != nil {
		return err
	}
	if err := f.checkExisting(formats[k]); err != nil {
		return err
	}
	inputs, err := f.inputs(cmd.Context(), a, args)
	if err != nil || inputs == nil && !f.lines {
		return err
	}
	g, err := f.load(cmd, a.stdin)
	if err != nil {
		return err
	}
	if p := formats[k].prepare; p != nil {
		if err := p(f, g); err != nil {
			return err
		}
	}
	plan, err := f.compile(g)
	if err == nil {
		err = wantOneImage(g)
	}
	if err != nil {
		return err
	}
	if l := randomSteps(g); l != nil && !f.quiet {
		a.complain(fmt.Errorf("the graph is random (%s): every image gets the same draws; a dataset draws for each sample", strings.Join(l, ", ")))
	}
	s := &columns{format: formats[k], batch: f.batch}
	if s.names, err = outputNames(g, plan, f.outputs == "all", s.format); err != nil {
		return err
	}
	var rules []datagraph.Batching
	for i, c := range plan.Outputs()[:len(s.names)] {
		rules = append(rules, c.Batch)
		s.joined = append(s.joined, c.Batch.Rule == datagraph.BatchConcat)
		if f.batchSize > 0 && c.Desc.DType == tensor.Bytes {
			return usageErr("--batch-size: the output %s is %v, which no batch holds", s.names[i], c.Desc)
		}
	}
	o, err := f.options(cmd.Context(), a, &f.graphFlags)
	if err != nil {
		return err
	}
	var on *sessions
	if f.device != cpu.Name || o.Model != nil {
		if on, err = newSessions(f.device, plan, o); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, on.close()) }()
		if on.infer {
			if n := firstChanged(cmd, "batch", "batch-size"); n != "" {
				return usageErr("--%s is for the graph's tensors; it does not apply to a model's outputs", n)
			}
			if slices.ContainsFunc(modelFormats, func(m format) bool { return m.name == s.format.name }) {
				return usageErr("--format %s is for the inputs of models; it does not apply to a model's outputs", s.format.name)
			}
			if s.names, err = modelNames(on.outputs(), s.format); err != nil {
				return err
			}
		}
	}
	if err := s.rename(f.names); err != nil {
		return err
	}

	if f.lines {
		return a.runLines(cmd.Context(), f, plan, on, *s)
	}
	var to sink
	if f.out != "" {
		if to, err = f.newSink(a, *s, rules); err != nil {
			return err
		}
	}
	files, _ := to.(*imageFiles)
	if to, err = f.newPredictions(cmd, to, on); err != nil {
		return err
	}
	l := expandAll(cmd.Context(), f.outside.files(), inputs, f.out, f.keepPath)
	defer l.close()
	l.findContainers()
	if cmd.Context().Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted: nothing was done" + a.goOn(f))}
	}
	if !slices.ContainsFunc(l.inputs, func(in input) bool { return in.err == nil }) {
		return a.nothing(l, f.json)
	}
	if f.out != "" && f.out != "-" {
		defer enter(f.out)()
	}
	if err == nil {
		err = to.ready(cmd.Context())
	}
	if err != nil {
		return err
	}
	b := &batch{app: a, plan: plan, sessions: on, limits: f.limits, sink: to, files: files, inputs: l.inputs, jobs: f.jobs}
	b.remote = paths.IsURI(f.out) || slices.ContainsFunc(l.inputs, func(in input) bool { return in.uri != "" && in.err == nil && in.container == nil })
	if files != nil {
		files.number(cmd.Context(), l.inputs)
		l.claim(files)
		if f.existing != "" {
			digest, bad := f.digest(g, *s, o.Model)
			if bad == nil {
				b.existing, bad = openExisting(files, f.existing, digest)
			}
			if bad != nil {
				return wrapFail(bad)
			}
			defer func() { err = errors.Join(err, b.existing.close()) }()
		}
	}
	if to, ok := to.(*batches); ok && to.resume {
		b.existing = &existing{}
		if b.existing.listed, err = to.earlier(); err != nil {
			return wrapFail(err)
		}
	}
	if files != nil && f.existing != existingContent && !paths.IsURI(f.out) {
		if err := dropManifest(f.out); err != nil {
			return err
		}
	}
	report, err := newReport(f.report)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, report.close()) }()
	if !unknown(l.inputs) {
		b.jobs = min(b.jobs, len(l.inputs))
	}
	return a.report(cmd.Context(), b, f, report)
}

// checkOutput checks the flags of the output.
func (f *runFlags) checkOutput(cmd *cobra.Command, a *app, x format) error {
	stdout := f.out == "-"
	changed := cmd.Flags().Changed
	if n := firstChanged(cmd, "format", "name", "batch-size", "force"); f.out == "" && n != "" {
		return usageErr("--%s applies to files: want -o DIR", n)
	}
	if paths.IsURI(f.out) {
		if _, err := store.Of(store.URI, f.out); err != nil {
			return usageErr("-o %w", err)
		}
		if x.list != "" {
			return usageErr("-o %s: --format %s is for programs that read files of this machine: want a folder", f.out, x.name)
		}
	}
	switch n := firstChanged(cmd, "samples-per-file", "bytes-per-file"); {
	case changed("batch-size") && (f.batchSize < 1 || f.batchSize > maxBatch):
		return usageErr("--batch-size %d: want 1 to %d", f.batchSize, maxBatch)
	case f.batch && f.batchSize > 0:
		return usageErr("--batch writes batches of one image, named after it: want only one of --batch and --batch-size")
	case f.batchSize > 0 && x.shards != "":
		return usageErr("--batch-size does not apply to --format %s: a sample is one image, and the reader forms batches", x.name)
	case changed("last-batch") && f.batchSize == 0:
		return usageErr("--last-batch needs --batch-size")
	case n != "" && (x.shards == "" || stdout):
		return usageErr("--%s applies to shards: want --format webdataset, recordio or tfrecord, and -o DIR", n)
	case f.samples < 1 || f.bytes < 1:
		return usageErr("--samples-per-file %d, --bytes-per-file %d: want at least 1", f.samples, int64(f.bytes))
	case f.force && (x.shards == "" && !x.numbered && f.batchSize == 0 || stdout):
		return usageErr("--force applies to batches, shards and numbered folders")
	case !stdout:
		return nil
	case x.file != nil || x.list != "":
		return usageErr("-o -: --format %s has files and a folder: want -o DIR", x.name)
	case f.json:
		return usageErr("-o - and --json both write to standard output: want only one of them")
	}
	if t, ok := a.stdout.(*os.File); ok && x.name != "triton" && term.IsTerminal(int(t.Fd())) {
		return usageErr("-o -: standard output is a terminal: want a file or a pipe, or -o DIR")
	}
	return nil
}

// wantOneImage refuses a graph whose input is not one encoded image.
func wantOneImage(g *datagraph.Graph) error {
	if len(g.Inputs) == 1 && g.Inputs[0].Desc.DType == tensor.Bytes {
		return nil
	}
	var l []string
	for _, c := range g.Inputs {
		l = append(l, fmt.Sprintf("%s (%v)", c.Name, c.Desc))
	}
	return usageErr("the graph's inputs are %s: want one encoded image (bytes)", strings.Join(l, ", "))
}

// outputNames lists the outputs to write, the first ones of a run. It refuses
// types that the format cannot hold, and names that a case-insensitive file
// system would confuse.
func outputNames(g *datagraph.Graph, plan *datagraph.Plan, all bool, f format) ([]string, error) {
	names := g.Outputs
	if all {
		names = slices.Concat(g.Outputs, g.SideOutputs)
	}
	for i, c := range plan.Outputs()[:len(names)] {
		if slices.Contains(f.no, c.Desc.DType) {
			var can []string
			for _, o := range formats {
				if !slices.Contains(o.no, c.Desc.DType) {
					can = append(can, o.name)
				}
			}
			return nil, usageErr("the output %s is %v, which --format %s cannot hold: want %s", names[i], c.Desc.DType, f.name, orList(can))
		}
	}
	for i, n := range names {
		if j := slices.IndexFunc(names[:i], func(o string) bool { return strings.EqualFold(o, n) }); j >= 0 && !f.many {
			return nil, usageErr("the outputs %s and %s differ only in case, which some file systems ignore: want --format npz or safetensors", names[j], n)
		}
	}
	return names, nil
}

// nothing reports a run without images.
func (a *app) nothing(l *listing, asJSON bool) error {
	for _, in := range l.inputs {
		if err := a.failed(in.path, in.err, asJSON); err != nil {
			return err
		}
	}
	return noImages(len(l.inputs), 0)
}

// report runs a batch and prints its results in the order of the inputs.
func (a *app) report(ctx context.Context, b *batch, f *runFlags, to *report) error {
	start := time.Now()
	total := len(b.inputs)
	of := " of " + plural(total, "file")
	if unknown(b.inputs) {
		total, of = -1, ""
	}
	bar := newProgress(a.stderr, total, f.quiet)
	done, failed, dropped, skipped, existed, named := 0, 0, 0, 0, 0, 0
	var made tally
	folder, folders := "", 0 // links to folders, and the first
	full := false            // the disk is full
	running, stop := context.WithCancel(ctx)
	defer stop()
	final := func(o outcome) error {
		o.in.reported = true
		switch {
		case full && diskFull(o.err): // a message says so already
			return to.add(o.in, reportLine{Status: statusFailed, Kind: kindOf(o), Why: a.advised(o.err)})
		case o.why != "":
			skipped++
			switch {
			case o.why == linkToFolder:
				if folders++; folders == 1 {
					folder = o.in.path
				}
			case o.named:
				if named++; named <= maxNamed {
					bar.clear()
					a.complain(fmt.Errorf("%s: left out: %s", o.in.path, o.why))
				}
			}
			return to.add(o.in, reportLine{Status: statusSkipped, Why: o.why})
		case o.err != nil:
			failed++
			if full = diskFull(o.err); full {
				stop()
			}
			bar.clear()
			err := to.add(o.in, reportLine{Status: statusFailed, Kind: kindOf(o), Why: a.advised(o.err)})
			return errors.Join(err, a.failed(o.in.path, o.err, f.json))
		case o.existed:
			existed++
			if err := to.add(o.in, reportLine{Status: statusSkipped, Why: "it has its outputs already"}); err != nil || !f.json {
				return err
			}
			return a.printLine(struct {
				Input   string `json:"input"`
				Existed bool   `json:"existed"`
			}{o.in.path, true})
		case o.dropped:
			dropped++
			if err := to.add(o.in, reportLine{Status: statusSkipped, Why: "the last batch is not full"}); err != nil || !f.json {
				return err
			}
			return a.printLine(imageLine{Input: o.in.path, Dropped: true, Outputs: o.results})
		default:
			done++
			made.add(o.results)
			if err := to.add(o.in, reportLine{Status: statusDone, Outputs: o.results}); err != nil {
				return err
			}
			if f.json {
				return a.printLine(imageLine{Input: o.in.path, Outputs: o.results, Labels: o.best})
			}
			if o.best != nil {
				bar.clear()
				return a.printBest(o.in.path, o.best)
			}
		}
		return nil
	}
	finals := func(l []outcome, err error) error {
		for _, o := range l {
			err = errors.Join(err, final(o))
		}
		return err
	}
	err := b.run(running, func(o outcome) error {
		if ctx.Err() != nil && errors.Is(o.err, context.Canceled) { // a request that was ended
			return nil
		}
		defer bar.step()
		if o.why != "" || o.err != nil {
			return final(o)
		}
		if o.existed && b.existing.files != nil { // lists have it
			return finals(b.existing.files.add(o))
		}
		return finals(b.sink.add(o))
	})
	if err == nil && !full {
		err = finals(b.sink.close())
	}
	if err != nil || full {
		err = errors.Join(err, b.sink.abort())
	}
	bar.clear()
	if named > maxNamed {
		a.complain(fmt.Errorf("%s more were left out: --report lists them", plural(named-maxNamed, "file")))
	}
	if folders > 0 {
		more := ""
		if folders > 1 {
			more = fmt.Sprintf(", and so are %s more", plural(folders-1, "link"))
		}
		a.complain(fmt.Errorf("%s: left out: %s%s: name the folder to walk it", folder, linkToFolder, more))
	}
	err = errors.Join(err, to.end(b.inputs))
	if !full && diskFull(err) {
		full = true
		a.complain(err)
	}
	if err != nil && !full && !errors.Is(err, context.Canceled) {
		return failErr("%w", err) // writing to standard output, a list or a file of several images
	}
	if full {
		return failErr("the disk is full: %d%s done", done, of)
	}
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, fmt.Errorf("interrupted: %d%s done%s", done, of, a.goOn(f))}
	}
	if done+failed+dropped+existed == 0 {
		return noImages(0, skipped)
	}
	if dropped > 0 && !f.quiet {
		a.complain(fmt.Errorf("%s left out: the last batch is not full", plural(dropped, "image")))
	}
	before := ""
	if existed > 0 {
		before = fmt.Sprintf(", %d done before", existed)
	}
	if took := time.Since(start); !f.quiet && !f.json {
		fmt.Fprintf(a.stderr, "%s, %d failed, %d skipped%s, %.1f s, %.0f images/s\n",
			plural(done+failed, "image"), failed, skipped, before, took.Seconds(), float64(done)/max(took.Seconds(), 1e-9))
		made.write(a.stderr, f.place())
		a.sayStore()
	} else if failed > 0 {
		a.complain(fmt.Errorf("%d of %s failed", failed, plural(done+failed, "image")))
	}
	if s := a.storeStats(); f.json && s.Requests > 0 {
		if err := a.printLine(map[string]storeStats{"store": s}); err != nil {
			return err
		}
	}
	if failed > 0 || f.strict && named+folders > 0 {
		return &exitError{status: exitFailed}
	}
	return nil
}

// place says where a run writes its tensors.
func (f *runFlags) place() string {
	switch {
	case f.out == "-":
		return "on standard output"
	case f.batchSize > 0:
		return "in batches in " + paths.Shown(f.out)
	}
	return "in " + paths.Shown(f.out)
}

// tally describes the tensors of a run.
type tally []tensors

// tensors are those of one output.
type tensors struct {
	name  string
	n     int
	dtype tensor.DType
	shape tensor.Shape // sizes that differ are unknown
	ranks bool         // the numbers of axes differ
}

func (t *tally) add(results []result) {
	for _, r := range results {
		i := slices.IndexFunc(*t, func(x tensors) bool { return x.name == r.Name })
		if i < 0 {
			*t = append(*t, tensors{name: r.Name, n: 1, dtype: r.DType, shape: r.Shape})
			continue
		}
		x := &(*t)[i]
		x.n++
		if x.ranks = x.ranks || x.shape.Rank() != r.Shape.Rank(); x.ranks {
			continue
		}
		for j := range x.shape.Rank() {
			if x.shape.At(j) != r.Shape.At(j) {
				x.shape = x.shape.With(j, tensor.Unknown)
			}
		}
	}
}

// write writes a line for each output.
func (t tally) write(w io.Writer, place string) {
	for _, x := range t {
		name, shape := "", x.shape.String()
		if len(t) > 1 {
			name = x.name + ": "
		}
		if x.ranks {
			shape = "of several ranks"
		}
		fmt.Fprintf(w, "%s%s of %v %s %s\n", name, plural(x.n, "tensor"), x.dtype, shape, place)
	}
}

// maxNamed is the largest number of files left out that messages name.
const maxNamed = 20

// inputs returns the arguments and the entries of --files-from. They are nil if
// a report leaves nothing to do.
func (f *runFlags) inputs(ctx context.Context, a *app, args []string) ([]argument, error) {
	if f.null && f.filesFrom == "" {
		return nil, usageErr("--null is for the entries of --files-from")
	}
	l := append([]argument{}, arguments(args)...)
	if f.filesFrom == "" {
		return l, nil
	}
	if f.filesFrom == "-" && slices.Contains(args, pipe.Stdin) {
		return nil, usageErr("--files-from - and the image - both read standard input: want only one of them")
	}
	if f.report != "" && paths.Same(f.filesFrom, f.report) {
		return nil, usageErr("--report %s would replace the list of --files-from: want another file", f.report)
	}
	more, report, err := readFilesFrom(ctx, f.filesFrom, f.null, a.stdin)
	if err != nil {
		return nil, usageErr("--files-from %w", err)
	}
	if report && len(l)+len(more) == 0 {
		if !f.quiet {
			fmt.Fprintf(a.stderr, "%s: nothing to do: the report has no image that failed or was not begun\n", paths.Shown(f.filesFrom))
		}
		return nil, nil
	}
	return append(l, more...), nil
}

// goOn returns the end of a message: the command that goes on with an
// interrupted run, if there is one.
func (a *app) goOn(f *runFlags) string {
	x := formats[slices.IndexFunc(formats, func(x format) bool { return x.name == f.format })]
	if again := *f; again.existing == "" {
		if again.existing, again.force = existingName, false; again.checkExisting(x) != nil {
			return ""
		}
	}
	stream := func(arg string) bool {
		return arg == "-" || strings.HasSuffix(arg, "=-") || strings.Contains(arg, "/dev/stdin") || strings.Contains(arg, "/dev/fd/")
	}
	if slices.ContainsFunc(a.args, stream) { // they are used up
		return ""
	}
	var words []string
	for i, arg := range a.args {
		if arg == "--force" { // it would remove what there is
			continue
		}
		if paths.Shown(arg) != arg { // it grants access
			return ""
		}
		words = append(words, shellQuoted(arg))
		if i == 0 && f.existing == "" {
			words = append(words, "--skip-existing")
		}
	}
	return "; to go on: " + Program + " " + strings.Join(words, " ")
}

// shellQuoted quotes an argument for a POSIX shell, if that is necessary.
func shellQuoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=,:+@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
