// Package cli is the command line: one file a command, and Run, which does all
// that the program does but reads no global state, so that tests can drive it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	_ "github.com/infer-prep/infer-prep/codec/all" // every image format
)

// The exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1   // some inputs failed or were missing, or a file could not be written
	exitUsage       = 2   // a wrong flag or graph
	exitInterrupted = 130 // as a shell reports a process that SIGINT ended
)

// program is the name that messages start with.
const program = "infer-prep"

// exitError is an error with an exit status of its own. Without a message (Err
// is nil) everything has been said already.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageErr is a wrong flag, argument or graph.
func usageErr(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// failErr is a failure that no change of the flags mends.
func failErr(format string, args ...any) error {
	return &exitError{exitFailed, fmt.Errorf(format, args...)}
}

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

// complain prints an error on one line. Names of files and graphs are not
// ours: what could move a terminal's cursor is escaped as in a Go string.
func (a *app) complain(err error) {
	fmt.Fprintf(a.stderr, "%s: %s\n", program, printable(err.Error()))
}

func printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if unicode.IsPrint(r) && !(r == utf8.RuneError && n == 1) {
			b.WriteString(s[:n])
		} else {
			q := strconv.Quote(s[:n])
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
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

// commandName is a command's name without the program's, with which errors begin.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), program+" ")
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErr("%s takes no argument, got %q", commandName(cmd), args[0])
	}
	return nil
}

// oneOfCommands refuses arguments of a command that has commands only.
func oneOfCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var l []string
	for _, c := range cmd.Commands() {
		l = append(l, c.Name())
	}
	return usageErr("unknown command %q, want one of %s", args[0], strings.Join(l, ", "))
}
