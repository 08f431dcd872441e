package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// runFlags are the flags of run.
type runFlags struct {
	graphFlags
	outside outside
	modelFlags
	topFlags
	out, outputs      string
	to                job.Sink
	bytes             count // of a shard
	names             []string
	json, quiet       bool
	lines             bool
	existing          string
	report, filesFrom string
	null, strict      bool
	keepPath          bool
	jobs              int

	format job.Format // of to; set by check
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
	f.addOutput(cmd)
	f.addInputs(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.lines, "lines", false, "answer each line on standard input, a path or a JSON object, with a JSON object on standard output")
	fl.BoolVar(&f.json, "json", false, "print one JSON object for each image, one a line")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "process `N` images at once")
	fl.Lookup("jobs").DefValue = "one for each CPU" // help and man pages are the same everywhere
	return cmd
}

// addOutput adds the flags of the output.
func (f *runFlags) addOutput(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write the tensors to the folder `DIR`, a path or a URI, which is created if it does not exist; - is standard output")
	fl.StringVar(&f.to.Format, "format", "npy", "write files of this `FORMAT`: npy, npz, raw (the elements only), pb (ONNX TensorProto) or safetensors; for programs that run models: onnx-test, triton, triton-raw, input-list or tensorrt; shards: webdataset, recordio or tfrecord")
	fl.StringArrayVar(&f.names, "name", nil, "rename an output to the model's input, `OUTPUT=INPUT`, in formats with names; repeatable; INPUT alone is enough for a single output")
	fl.StringVar(&f.outputs, "outputs", "main", "`WHICH` outputs to write: main, or all to include side outputs")
	fl.BoolVar(&f.to.BatchAxis, "batch", false, "write batches of one image, in files named after it: add an axis of 1 in front, except to outputs that batches concatenate")
	fl.IntVar(&f.to.BatchSize, "batch-size", 0, "write batches of `N` images, one file or several for each batch, with a list of its images")
	fl.StringVar(&f.to.LastBatch, "last-batch", job.LastShort, "write the last batch as it is if it has less images (short), repeat its last image (pad), or leave it out (drop); `HOW` is one of these")
	fl.IntVar(&f.to.ShardSamples, "samples-per-file", 2000, "write at most `N` samples to a shard")
	fl.Var(&f.bytes, "bytes-per-file", "end a shard once its samples have that many `BYTES`")
	fl.BoolVar(&f.to.Force, "force", false, "remove the batches, shards or numbered folders of an earlier run from DIR")
	complete(cmd, "format", formatNames()...)
	complete(cmd, "outputs", "main", "all")
	complete(cmd, "last-batch", job.LastShort, job.LastPad, job.LastDrop)
	noErr(cmd.MarkFlagDirname("output"))
}

// addInputs adds the flags of the inputs.
func (f *runFlags) addInputs(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.existing, "skip-existing", "", "skip images that have their outputs: `HOW` is name, which only looks for the files, or content, which compares images and graph with those of the earlier run")
	fl.Lookup("skip-existing").NoOptDefVal = string(job.ByName)
	fl.StringVar(&f.filesFrom, "files-from", "", "read more images, folders, globs or URIs from `FILE`, one a line, or from standard input with -; of a report of --report, take the images that are not done")
	fl.BoolVarP(&f.null, "null", "0", false, "the entries of --files-from end with a NUL byte, as find -print0 writes them")
	fl.BoolVar(&f.keepPath, "keep-path", false, "name outputs by the whole path of an argument: photos/cat.jpg becomes DIR/photos/cat.jpg.npy")
	fl.StringVar(&f.report, "report", "", "write a JSON object for each image to `FILE`, one a line: done, skipped or failed, and why")
	fl.BoolVar(&f.strict, "strict", false, "exit with 1 if a folder or glob has files that look like images and are left out")
	noErr(cmd.MarkFlagFilename("files-from"))
	noErr(cmd.MarkFlagFilename("report"))
	complete(cmd, "skip-existing", string(job.ByName), string(job.ByContent))
}

func (a *app) runImages(cmd *cobra.Command, f *runFlags, args []string) (err error) {
	if f.device == "help" {
		return a.listDevices()
	}
	if err := f.check(cmd, a, args); err != nil {
		return err
	}
	inputs, err := f.inputs(cmd.Context(), a, args)
	if err != nil || inputs == nil && !f.lines {
		return err
	}
	j, done, err := a.newJob(cmd, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if f.lines {
		return a.runLines(cmd.Context(), f, j)
	}
	j.Inputs = inputs
	return a.runJob(cmd.Context(), f, j)
}

// check checks the flags, as far as that is possible without the graph.
func (f *runFlags) check(cmd *cobra.Command, a *app, args []string) error {
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
	if err := errors.Join(oneOf("outputs", f.outputs, "main", "all"), oneOf("format", f.to.Format, formatNames()...), oneOf("last-batch", f.to.LastBatch, job.LastShort, job.LastPad, job.LastDrop)); err != nil {
		return err
	}
	if f.existing != "" {
		if err := oneOf("skip-existing", f.existing, string(job.ByName), string(job.ByContent)); err != nil {
			return err
		}
	}
	formats := job.Formats()
	f.format = formats[slices.IndexFunc(formats, func(x job.Format) bool { return x.Name == f.to.Format })]
	if f.lines {
		return f.checkLines(cmd, args)
	}
	return f.checkOutput(cmd, a)
}

// formatNames lists the values of --format.
func formatNames() (l []string) {
	for _, f := range job.Formats() {
		l = append(l, f.Name)
	}
	return l
}

// checkOutput checks the flags of the output that have no effect with others.
func (f *runFlags) checkOutput(cmd *cobra.Command, a *app) error {
	stdout := f.out == "-"
	x := f.format
	changed := cmd.Flags().Changed
	if n := firstChanged(cmd, "format", "name", "batch-size", "force"); f.out == "" && n != "" {
		return usageErr("--%s applies to files: want -o DIR", n)
	}
	if paths.IsURI(f.out) {
		if _, err := store.Of(store.URI, f.out); err != nil {
			return usageErr("-o %w", err)
		}
	}
	switch n := firstChanged(cmd, "samples-per-file", "bytes-per-file"); {
	case changed("batch-size") && f.to.BatchSize < 1:
		return usageErr("--batch-size %d: want 1 to %d", f.to.BatchSize, job.MaxBatch)
	case changed("last-batch") && f.to.BatchSize == 0:
		return usageErr("--last-batch needs --batch-size")
	case n != "" && (!x.Shards || stdout):
		return usageErr("--%s applies to shards: want --format webdataset, recordio or tfrecord, and -o DIR", n)
	case f.to.ShardSamples < 1 || f.bytes < 1:
		return usageErr("--samples-per-file %d, --bytes-per-file %d: want at least 1", f.to.ShardSamples, int64(f.bytes))
	case f.to.Force && (!x.Shards && !x.Numbered && f.to.BatchSize == 0 || stdout):
		return usageErr("--force applies to batches, shards and numbered folders")
	case stdout && f.json && !x.Folder && x.List == "":
		return usageErr("-o - and --json both write to standard output: want only one of them")
	case stdout && !x.Folder && x.List == "":
		if t, ok := a.stdout.(*os.File); ok && x.Name != "triton" && term.IsTerminal(int(t.Fd())) {
			return usageErr("-o -: standard output is a terminal: want a file or a pipe, or -o DIR")
		}
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

// inputs returns the arguments and the entries of --files-from. They are nil if
// a report leaves nothing to do.
func (f *runFlags) inputs(ctx context.Context, a *app, args []string) ([]job.Input, error) {
	if f.null && f.filesFrom == "" {
		return nil, usageErr("--null is for the entries of --files-from")
	}
	l := append([]job.Input{}, job.Paths(args...)...)
	if f.filesFrom == "" {
		return l, nil
	}
	if f.filesFrom == "-" && slices.Contains(args, pipe.Stdin) {
		return nil, usageErr("--files-from - and the image - both read standard input: want only one of them")
	}
	if f.report != "" && paths.Same(f.filesFrom, f.report) {
		return nil, usageErr("--report %s would replace the list of --files-from: want another file", f.report)
	}
	more, report, err := job.ReadList(ctx, f.filesFrom, f.null, a.stdin)
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
