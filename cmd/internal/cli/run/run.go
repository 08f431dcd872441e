// Package run implements the command run.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/store"
)

// runFlags are the flags of run.
type runFlags struct {
	source.GraphFlags
	outside command.Outside
	source.ModelFlags
	topFlags
	video             videoFlags
	tiles             tileFlags
	out, outputs      string
	to                job.Sink
	bytes             command.Count // of a shard
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

func Command(a *command.App) *cobra.Command {
	f := &runFlags{bytes: 3e9}
	cmd := &cobra.Command{
		Use:                   "run [--preset NAME | --graph FILE | --bundle FILE | --hf FILE | …] -o DIR IMAGE...",
		Short:                 "Turn images into tensors",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runImages(a, cmd, f, args)
		},
	}
	f.GraphFlags.Add(cmd)
	f.outside.Add(cmd)
	f.ModelFlags.Add(cmd)
	f.topFlags.add(cmd)
	f.addOutput(cmd)
	f.addInputs(cmd)
	f.video.add(cmd)
	f.tiles.add(cmd)
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
	command.Complete(cmd, "format", formatNames()...)
	command.Complete(cmd, "outputs", "main", "all")
	command.Complete(cmd, "last-batch", job.LastShort, job.LastPad, job.LastDrop)
	command.Must(cmd.MarkFlagDirname("output"))
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
	command.Must(cmd.MarkFlagFilename("files-from"))
	command.Must(cmd.MarkFlagFilename("report"))
	command.Complete(cmd, "skip-existing", string(job.ByName), string(job.ByContent))
}

func runImages(a *command.App, cmd *cobra.Command, f *runFlags, args []string) (err error) {
	if f.Device == "help" {
		return source.ListDevices(a)
	}
	if f.video.on {
		if args, err = f.listedVideos(cmd, a, args); err != nil {
			return err
		}
	}
	if err := f.video.check(cmd, f.out, args); err != nil {
		return err
	}
	if f.video.on {
		return runVideos(a, cmd, f, args)
	}
	if err := f.check(cmd, a, args); err != nil {
		return err
	}
	inputs, err := f.inputs(cmd.Context(), a, args)
	if err != nil || inputs == nil && !f.lines {
		return err
	}
	j, done, err := newJob(a, cmd, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if f.lines {
		return runLines(cmd.Context(), a, f, j)
	}
	j.Inputs = inputs
	if f.tiles.size > 0 {
		return runTiles(cmd.Context(), a, f, j)
	}
	return runJob(cmd.Context(), a, f, j, nil)
}

// check checks the flags, as far as that is possible without the graph.
func (f *runFlags) check(cmd *cobra.Command, a *command.App, args []string) error {
	switch {
	case f.out == "" && !f.lines && !f.Infer:
		return command.UsageErr("no output folder: want -o DIR, or -o - for standard output")
	case len(args) == 0 && !f.lines && f.filesFrom == "":
		return command.UsageErr("no images or sounds: want files, folders or globs")
	case f.jobs < 1:
		return command.UsageErr("--jobs %d: want at least 1", f.jobs)
	}
	f.out = paths.TrimFile(f.out)
	if f.report = paths.TrimFile(f.report); paths.IsURI(f.report) {
		return command.UsageErr("--report %s: the report grows line by line: want a file of this machine", f.report)
	}
	if err := errors.Join(command.OneOf("outputs", f.outputs, "main", "all"), command.OneOf("format", f.to.Format, formatNames()...), command.OneOf("last-batch", f.to.LastBatch, job.LastShort, job.LastPad, job.LastDrop)); err != nil {
		return err
	}
	if f.existing != "" {
		if err := command.OneOf("skip-existing", f.existing, string(job.ByName), string(job.ByContent)); err != nil {
			return err
		}
	}
	formats := job.Formats()
	f.format = formats[slices.IndexFunc(formats, func(x job.Format) bool { return x.Name == f.to.Format })]
	if f.lines {
		return f.checkLines(cmd, args)
	}
	if err := f.tiles.check(cmd, f); err != nil {
		return err
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
func (f *runFlags) checkOutput(cmd *cobra.Command, a *command.App) error {
	stdout := f.out == "-"
	x := f.format
	changed := cmd.Flags().Changed
	if n := command.FirstChanged(cmd, "format", "name", "batch-size", "force"); f.out == "" && n != "" {
		return command.UsageErr("--%s applies to files: want -o DIR", n)
	}
	if paths.IsURI(f.out) {
		if _, err := store.Of(store.URI, f.out); err != nil {
			return command.UsageErr("-o %w", err)
		}
	}
	switch n := command.FirstChanged(cmd, "samples-per-file", "bytes-per-file"); {
	case changed("batch-size") && f.to.BatchSize < 1:
		return command.UsageErr("--batch-size %d: want 1 to %d", f.to.BatchSize, job.MaxBatch)
	case changed("last-batch") && f.to.BatchSize == 0:
		return command.UsageErr("--last-batch needs --batch-size")
	case n != "" && (!x.Shards || stdout):
		return command.UsageErr("--%s applies to shards: want --format webdataset, recordio or tfrecord, and -o DIR", n)
	case f.to.ShardSamples < 1 || f.bytes < 1:
		return command.UsageErr("--samples-per-file %d, --bytes-per-file %d: want at least 1", f.to.ShardSamples, int64(f.bytes))
	case f.to.Force && (!x.Shards && !x.Numbered && f.to.BatchSize == 0 || stdout):
		return command.UsageErr("--force applies to batches, shards and numbered folders")
	case stdout && f.json && !x.Folder && x.List == "":
		return command.UsageErr("-o - and --json both write to standard output: want only one of them")
	case stdout && !x.Folder && x.List == "":
		if t, ok := a.Stdout.(*os.File); ok && x.Name != "triton" && term.IsTerminal(int(t.Fd())) {
			return command.UsageErr("-o -: standard output is a terminal: want a file or a pipe, or -o DIR")
		}
	}
	return nil
}

// inputs returns the arguments and the entries of --files-from. They are nil if
// a report leaves nothing to do.
func (f *runFlags) inputs(ctx context.Context, a *command.App, args []string) ([]job.Input, error) {
	if f.null && f.filesFrom == "" {
		return nil, command.UsageErr("--null is for the entries of --files-from")
	}
	l := append([]job.Input{}, job.Paths(args...)...)
	if f.filesFrom == "" {
		return l, nil
	}
	if f.filesFrom == "-" && slices.Contains(args, pipe.Stdin) {
		return nil, command.UsageErr("--files-from - and the image - both read standard input: want only one of them")
	}
	if f.report != "" && paths.Same(f.filesFrom, f.report) {
		return nil, command.UsageErr("--report %s would replace the list of --files-from: want another file", f.report)
	}
	more, report, err := job.ReadList(ctx, f.filesFrom, f.null, a.Stdin)
	if err != nil {
		return nil, command.UsageErr("--files-from %w", err)
	}
	if report && len(l)+len(more) == 0 {
		if !f.quiet {
			fmt.Fprintf(a.Stderr, "%s: nothing to do: the report has no image that failed or was not begun\n", paths.Shown(f.filesFrom))
		}
		return nil, nil
	}
	return append(l, more...), nil
}
