// Package serve implements the command serve.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/cmd/internal/serve"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/store"
)

type serveFlags struct {
	source.GraphFlags
	source.ModelFlags
	source.TokenFlags
	listen         string
	name, version  string
	outputs        string
	jobs, queue    int
	images, conns  int
	body, held     command.Count
	timeout, drain time.Duration
	quiet          bool
}

func Command(a *command.App) *cobra.Command {
	f := &serveFlags{body: 64 << 20, held: 1 << 30}
	cmd := &cobra.Command{
		Use:                   "serve [--preset NAME | --graph FILE | --bundle FILE | --hf FILE | …] [--listen HOST:PORT]",
		Short:                 "Serve a graph over HTTP: images in, tensors out",
		DisableFlagsInUseLine: true,
		Args:                  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Device == "help" {
				return source.ListDevices(a)
			}
			return runServe(a, cmd, f)
		},
	}
	f.GraphFlags.Add(cmd)
	f.ModelFlags.Add(cmd)
	f.TokenFlags.Add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8000", "listen on `HOST:PORT`; port 0 picks a free one; an empty host means every interface")
	fl.StringVar(&f.name, "model-name", "", "serve the graph as the model `NAME`")
	fl.StringVar(&f.version, "model-version", "", "serve the graph as this `VERSION` of the model")
	fl.StringVar(&f.outputs, "outputs", "main", "`WHICH` outputs to serve: main, or all to include side outputs")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "process `N` images at once")
	fl.Lookup("jobs").DefValue = "one for each CPU" // help and man pages are the same everywhere
	fl.IntVar(&f.queue, "queue", 64, "accept `N` requests more than --jobs; they wait")
	fl.IntVar(&f.images, "limit-images", 256, "refuse requests of more than `N` images")
	fl.IntVar(&f.conns, "limit-connections", 1024, "serve `N` connections at once; others wait")
	fl.Var(&f.body, "limit-body", "refuse bodies of more `BYTES`, before and after decompression")
	fl.Var(&f.held, "limit-held", "hold the bodies and results of all requests in at most this many `BYTES`")
	fl.DurationVar(&f.timeout, "timeout", 30*time.Second, "the longest `TIME` for reading and processing a request")
	fl.DurationVar(&f.drain, "drain", 0, "after a signal, report not ready but accept requests for this `TIME`, so that load balancers notice")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	command.Complete(cmd, "outputs", "main", "all")
	return cmd
}

// check refuses invalid values of flags.
func (f *serveFlags) check() error {
	switch {
	case f.jobs < 1:
		return command.UsageErr("--jobs %d: want at least 1", f.jobs)
	case f.queue < 0:
		return command.UsageErr("--queue %d: want at least 0", f.queue)
	case f.images < 1 || f.images > serve.MaxImages:
		return command.UsageErr("--limit-images %d: want 1 to %d", f.images, serve.MaxImages)
	case f.conns < 1:
		return command.UsageErr("--limit-connections %d: want at least 1", f.conns)
	case f.body < 1:
		return command.UsageErr("--limit-body %d: want at least 1", f.body)
	case f.held < 1:
		return command.UsageErr("--limit-held %d: want at least 1", f.held)
	case f.timeout <= 0:
		return command.UsageErr("--timeout %v: want more than 0", f.timeout)
	case f.drain < 0:
		return command.UsageErr("--drain %v: want at least 0", f.drain)
	}
	if _, _, err := net.SplitHostPort(f.listen); err != nil {
		return command.UsageErr("--listen %q: want HOST:PORT, such as 127.0.0.1:8000", f.listen)
	}
	return command.OneOf("outputs", f.outputs, "main", "all")
}

// names sets the model's name and version.
func (f *serveFlags) names(cmd *cobra.Command) error {
	ctx := cmd.Context()
	name, version := f.Preset, "1"
	if dir := cmd.Flag("hf").Value.String(); isFolder(dir) {
		if abs, err := filepath.Abs(dir); err == nil {
			name = filepath.Base(abs)
		}
	}
	if name == "" {
		name = strings.TrimSuffix(store.Base(f.File), filepath.Ext(store.Path(f.File)))
		if f.File == "standard input" {
			name = "graph"
		}
	}
	if f.Bundle != "" {
		b, err := source.OpenBundle(ctx, f.Bundle, f.Limits)
		if err != nil {
			return err
		}
		meta := b.Meta()
		name, version = cmp.Or(meta["name"], name), cmp.Or(meta["version"], version)
		if err := b.Close(); err != nil {
			return command.FailErr("%w", err)
		}
	}
	f.name, f.version = cmp.Or(f.name, name), cmp.Or(f.version, version)
	for _, s := range []struct{ flag, value string }{{"model-name", f.name}, {"model-version", f.version}} {
		if s.value == "." || s.value == ".." || strings.ContainsFunc(s.value, func(r rune) bool { return r == '/' || unicode.IsControl(r) }) {
			return command.UsageErr("%q cannot be a part of a URL: want --%s", s.value, s.flag)
		}
	}
	return nil
}

func runServe(a *command.App, cmd *cobra.Command, f *serveFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	g, err := f.Load(cmd, a.Stdin)
	if err != nil {
		return err
	}
	plan, err := f.CompileImage(g)
	if err != nil {
		return err
	}
	if err := f.names(cmd); err != nil {
		return err
	}
	logger := log.New(a.Stderr, command.Program+": serve: ", 0)
	o := serve.Options{
		Model: f.name, Version: f.version, Program: command.ModuleVersion(), Plan: plan, Noun: job.Noun(g), SideOutputs: f.outputs == "all",
		Jobs: f.jobs, Queue: f.queue, Images: f.images, Body: int64(f.body), Held: int64(f.held),
		Connections: f.conns, Timeout: f.timeout, Drain: f.drain, Log: logger,
	}
	counter, err := f.Open(cmd)
	switch {
	case err != nil:
		return err
	case counter != nil && counter.Err != nil && command.FirstChanged(cmd, "tokens") != "":
		return command.UsageErr("%w", counter.Err)
	case counter != nil && counter.Err != nil:
		if !f.quiet {
			logger.Printf("without tokens: %v", counter.Err)
		}
	case counter != nil:
		o.Tokens = counter.Processor
	}
	if o.Video, err = f.openVideo(cmd, a); err != nil && !f.quiet {
		logger.Printf("without videos: %v", err)
	}
	close, err := f.openDevice(cmd.Context(), a, &o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, close()) }()
	s, err := serve.New(o)
	if err != nil {
		return source.DeviceErr(err)
	}
	l, err := new(net.ListenConfig).Listen(cmd.Context(), "tcp", f.listen)
	if err != nil {
		return command.FailErr("--listen %s: %w", f.listen, err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		logger.Printf("warning: %s is open to other machines, without encryption or authentication", l.Addr())
	}
	if !f.quiet {
		fmt.Fprintf(a.Stderr, "serving model %s on http://%s\n", f.name, l.Addr())
	}
	err = command.WrapFail(s.Serve(cmd.Context(), l))
	if !f.quiet {
		fmt.Fprintf(a.Stderr, "stopped: %s answered\n", command.Plural(int(s.Answered()), "request"))
	}
	return err
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// openVideo reads the video processor of the folder of --hf. It is nil if there
// is none. A preprocessor_config.json without one is no error.
func (f *serveFlags) openVideo(cmd *cobra.Command, a *command.App) (*video.Processor, error) {
	dir := cmd.Flag("hf").Value.String()
	if !isFolder(dir) {
		return nil, nil
	}
	p, err := source.OpenVideo(cmd.Context(), dir, a.Stdin)
	if err == nil {
		return p, nil
	}
	name, _, _ := video.FromModel(func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) })
	if name == "" || strings.HasPrefix(name, "preprocessor_config.json") {
		return nil, nil
	}
	return nil, err
}

// openDevice sets the device of o, and returns what closes it.
func (f *serveFlags) openDevice(ctx context.Context, a *command.App, o *serve.Options) (close func() error, err error) {
	options, err := f.Options(ctx, a, &f.GraphFlags)
	if err != nil {
		return nil, err
	}
	if f.Device == cpu.Name && options.Model == nil {
		return func() error { return nil }, nil
	}
	if o.Infer = options.Model != nil; o.Infer && o.SideOutputs {
		return nil, command.UsageErr("--outputs all adds the graph's tensors; it does not apply to a model's outputs")
	}
	o.Device, close, err = source.OpenSessions(f.Device, o.Plan, options, o.Jobs)
	return close, err
}
