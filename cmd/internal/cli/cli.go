// Package cli implements the command line of infer-prep. Each group of commands
// is a package below it. Run runs the program without reading global state, so
// that tests can drive it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/bench"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/bundle"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/diff"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/graph"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/help"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/pack"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/records"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/run"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/serve"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/sizes"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/stitch"
	_ "github.com/infer-prep/infer-prep/codec/all" // every image format
	"github.com/infer-prep/infer-prep/internal/lazyregexp"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/internal/registry"
	_ "github.com/infer-prep/infer-prep/sound/all"       // every sound format
	_ "github.com/infer-prep/infer-prep/store/httpstore" // http and https
	_ "github.com/infer-prep/infer-prep/transforms/all"  // every op
	_ "github.com/infer-prep/infer-prep/transforms/frames"
	_ "github.com/infer-prep/infer-prep/transforms/radiology"
	_ "github.com/infer-prep/infer-prep/transforms/subwords"
)

// AllowPlugin allows a library of C functions in graphs: it is plugin.Allow in
// programs that link that package, which cannot be linked together with
// device/webgpu. It is nil in others, which have no flag --allow-plugin. Set it
// before Run.
var AllowPlugin func(name, path string) error

// Run runs the program with args, which exclude the program's name, and returns
// its exit status. When ctx ends, Run finishes the work it has begun, begins no
// more and returns 130. If Main's signal ended ctx, Run returns 128 and the
// signal's number, as a shell does for a process that the signal ended.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &command.App{Stdin: stdin, Stdout: stdout, Stderr: stderr}
	return execute(ctx, a, args)
}

func execute(ctx context.Context, a *command.App, args []string) int {
	a.Args, a.Before = args, command.ReadStats()
	root := root(a, args)
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	out := &firstError{w: a.Stdout}
	root.SetOut(out)
	root.SetErr(a.Stderr)
	began := false // true once the command line was parsed
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		began, a.Command = true, cmd
		if err := command.OneOf("color", a.Color, command.ColorAuto, command.ColorAlways, command.ColorNever); err != nil {
			return err
		}
		if err := allowPlugins(a); err != nil {
			return err
		}
		return oneStdin(cmd, args)
	}
	cmd, err := root.ExecuteContextC(ctx)
	if out.err != nil { // cobra ignores errors of writing a help text
		began, err = true, out.err
	}
	if err == nil {
		return command.ExitOK
	}
	if errors.Is(err, syscall.EPIPE) { // the reader of the output has gone
		return command.ExitFailed
	}
	var e *command.ExitError
	switch {
	case errors.As(err, &e):
	case began: // writing to standard output failed
		e = &command.ExitError{Status: command.ExitFailed, Err: err}
	case unknownCommand().MatchString(err.Error()):
		var names []string
		for _, c := range root.Commands() {
			names = append(names, c.Name())
		}
		name := unknownCommand().FindStringSubmatch(err.Error())[1]
		e = &command.ExitError{Status: command.ExitUsage, Err: fmt.Errorf("unknown command %q%s", name, registry.DidYouMean(name, names))}
	default: // cobra's own, of several lines
		e = &command.ExitError{Status: command.ExitUsage, Err: errors.New(strings.Join(strings.Fields(err.Error()), " "))}
	}
	if ctx.Err() != nil && e.Status != command.ExitInterrupted && errors.Is(err, context.Canceled) { // a request that was ended
		e = &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted")}
	}
	status := e.Status
	if s := stopped(0); status == command.ExitInterrupted && errors.As(context.Cause(ctx), &s) {
		status = 128 + int(s)
	}
	if e.Err != nil {
		a.Complain(e.Err)
		if e.Status == command.ExitUsage {
			fmt.Fprintf(a.Stderr, "usage: %s\n", strings.TrimSuffix(cmd.UseLine(), " [flags]"))
			fmt.Fprintf(a.Stderr, "see: %s --help\n", cmd.CommandPath())
		}
	}
	return status
}

// commands are the commands by name.
var commands = []struct {
	name string
	make func(*command.App) *cobra.Command
}{
	{"run", run.Command}, {"serve", serve.Command}, {"bench", bench.Command}, {"train-bench", bench.TrainCommand}, {"feed", bench.FeedCommand},
	{"graph", graph.Command}, {"dataset", graph.DatasetCommand}, {"bundle", bundle.Command}, {"diff", diff.Command}, {"pack", pack.Command},
	{"records", records.Command}, {"sizes", sizes.Command}, {"stitch", stitch.Command}, {"ops", graph.OpsCommand}, {"importers", graph.ImportersCommand}, {"version", versionCmd},
}

// addCommands adds the command that args begin with, or else all: the flags of
// all take longer than the start of the program.
func addCommands(root *cobra.Command, a *command.App, args []string) {
	for _, c := range commands {
		if len(args) > 0 && args[0] == c.name {
			root.AddCommand(c.make(a))
			return
		}
	}
	for _, c := range commands {
		root.AddCommand(c.make(a))
	}
	root.AddCommand(manCmd(root))
}

// root returns the program with the commands that args need.
func root(a *command.App, args []string) *cobra.Command {
	cmd := &cobra.Command{
		Use:           command.Program,
		Short:         "Turn images into the exact tensors that a model was trained on",
		Version:       command.ModuleVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.PersistentFlags().StringVar(&a.Color, "color", command.ColorAuto, "color messages and results: auto (on a terminal, unless NO_COLOR is set or TERM is dumb), always or never")
	command.Complete(cmd, "color", command.ColorAuto, command.ColorAlways, command.ColorNever)
	if AllowPlugin != nil {
		cmd.PersistentFlags().StringArrayVar(&a.Plugins, "allow-plugin", nil, "let graphs call the shared library `NAME=PATH` by its name; its code runs with your rights; repeatable")
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		hint, names := "", []string(nil)
		if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
			cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
			hint = registry.DidYouMean("--"+unknown.GetSpecifiedName(), names)
		} else if unknown != nil && len(unknown.GetSpecifiedShortnames()) > 1 { // -preset
			name, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "=")
			cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
			hint = registry.DidYouMean("--"+name, names)
		}
		if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) && invalid.GetFlag().NoOptDefVal != "" {
			return command.UsageErr("--%s=%s: the flag is a switch and takes no value%s", invalid.GetFlag().Name, invalid.GetValue(), valued(cmd, invalid))
		}
		return command.UsageErr("%s%s", parseNoise().ReplaceAllString(err.Error(), ""), hint)
	})
	cmd.SetUsageFunc(usage)
	addCommands(cmd, a, args)
	help.Fill(cmd)
	cmd.InitDefaultHelpCmd()
	for _, c := range cmd.Commands() {
		if c.Name() == "help" { // cobra's help command accepts unknown names
			c.Args = func(_ *cobra.Command, args []string) error {
				_, _, err := cmd.Find(args)
				return err
			}
		}
	}
	return cmd
}

// allowPlugins allows the libraries of --allow-plugin.
func allowPlugins(a *command.App) error {
	for _, p := range a.Plugins {
		name, path, ok := strings.Cut(p, "=")
		if !ok || path == "" {
			return command.UsageErr("--allow-plugin %q: want NAME=PATH, a name for graphs and the file of a shared library", p)
		}
		if err := AllowPlugin(name, path); err != nil {
			return command.UsageErr("--allow-plugin %s: %w", p, err)
		}
	}
	return nil
}

// valued suggests the flag that takes the value given to a switch, as in
// --batch=8 for --batch-size 8.
func valued(cmd *cobra.Command, e *pflag.InvalidValueError) (hint string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if hint == "" && f.NoOptDefVal == "" && strings.HasPrefix(f.Name, e.GetFlag().Name+"-") {
			hint = fmt.Sprintf("; did you mean --%s %s?", f.Name, e.GetValue())
		}
	})
	return hint
}

// firstError is a writer that keeps its first error.
type firstError struct {
	w   io.Writer
	err error
}

func (w *firstError) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// unknownCommand matches cobra's error for an unknown command of the root.
var unknownCommand = lazyregexp.New(`^unknown command "([^"]*)" for `)

// parseNoise matches the start of strconv's errors.
var parseNoise = lazyregexp.New(`strconv\.Parse\w+: parsing "[^"]*": `)

// oneStdin refuses a command line that reads standard input twice. Flags that
// name outputs are not read.
func oneStdin(cmd *cobra.Command, args []string) error {
	var readers []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "lines" || f.Value.String() == pipe.Stdin && f.Name != "output" && f.Name != "svg" {
			readers = append(readers, "--"+f.Name)
		}
	})
	for _, arg := range args {
		if arg == pipe.Stdin {
			readers = append(readers, "the argument -")
		}
	}
	if len(readers) > 1 {
		return command.UsageErr("%s both read standard input: want only one", strings.Join(readers[:2], " and "))
	}
	return nil
}
