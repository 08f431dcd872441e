// Package cli is the command line: one file a command, and Run, which does all
// that the program does but reads no global state, so that tests can drive it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	_ "github.com/infer-prep/infer-prep/codec/all" // every image format
)

// program is the name that messages start with.
const program = "infer-prep"

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	testDelay      func()        // tests only: called before each image is written
	benchTime      time.Duration // tests only: what bench takes at most
	testWidth      int           // tests only: standard error is a terminal of this width
}

// Run runs the program with the arguments args (without the program's name)
// and returns its exit status. When ctx ends, work that was begun is finished,
// no more is begun, and the status is 130.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&app{stdin: stdin, stdout: stdout, stderr: stderr}).run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	began := false // after which an error is none of the command line's
	root.PersistentPreRun = func(*cobra.Command, []string) { began = true }
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, syscall.EPIPE) { // the reader of our output went away: nobody listens
		return exitFailed
	}
	var e *exitError
	switch {
	case errors.As(err, &e):
	case began: // standard output cannot be written to
		e = &exitError{exitFailed, err}
	default: // cobra's own, of several lines: unknown commands, missing arguments
		e = &exitError{exitUsage, errors.New(strings.Join(strings.Fields(err.Error()), " "))}
	}
	if e.err != nil {
		a.complain(e.err)
		if e.status == exitUsage {
			fmt.Fprintf(a.stderr, "usage: %s\n", strings.TrimSuffix(cmd.UseLine(), " [flags]"))
			fmt.Fprintf(a.stderr, "see: %s --help\n", cmd.CommandPath())
		}
	}
	return e.status
}

func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   program,
		Short: "Turn images into exactly the tensors a model was trained on",
		Long: `infer-prep turns encoded images into the tensors that a model was trained on,
byte for byte those of the Python reference (Pillow, OpenCV, torchvision,
transformers, timm).

Exit status: 0 all done; 1 some inputs failed or were missing; 2 a wrong flag
or graph; 130 interrupted.`,
		Example: `  infer-prep run --preset imagenet -o tensors photos/
  infer-prep run --hf preprocessor_config.json -o tensors cat.jpg
  infer-prep graph show --preset clip`,
		Version:       moduleVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usageErr("%s", parseNoise.ReplaceAllString(err.Error(), ""))
	})
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 100"))
	cmd.AddCommand(a.runCmd(), a.benchCmd(), a.trainBenchCmd(), a.graphCmd(), a.bundleCmd(), a.diffCmd(), a.packCmd(), a.recordsCmd(), a.opsCmd(), a.versionCmd(), a.manCmd(cmd))
	cmd.InitDefaultHelpCmd()
	for _, c := range cmd.Commands() {
		if c.Name() == "help" { // cobra's own says nothing wrong of an unknown command
			c.Args = func(_ *cobra.Command, args []string) error {
				_, _, err := cmd.Find(args)
				return err
			}
		}
	}
	return cmd
}

// parseNoise is what strconv says before what is wrong.
var parseNoise = regexp.MustCompile(`strconv\.Parse\w+: parsing "[^"]*": `)
