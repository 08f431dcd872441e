package bench

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
)

type feedFlags struct {
	outside  command.Outside
	socket   string
	resume   string
	epochs   int
	seed     uint64
	rank     int
	world    int
	workers  int
	prefetch int
	bytes    command.Count
	cache    command.Count
	uneven   string
	onError  string
}

func FeedCommand(a *command.App) *cobra.Command {
	f := &feedFlags{bytes: 1 << 30}
	cmd := &cobra.Command{
		Use:                   "feed DEFINITION [--socket PATH]",
		Short:                 "Stream the batches of a dataset to a program in any language",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return feed(a, cmd, f, args)
		},
	}
	f.outside.Add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.socket, "socket", "", "create the Unix socket `PATH`, wait for one consumer, and write to it")
	fl.StringVar(&f.resume, "resume", "", "continue after the frame with this `TOKEN`, or with the one in the file @FILE")
	fl.IntVar(&f.epochs, "epochs", 1, "end after `N` epochs, counted from the first one also with --resume; 0 means never")
	fl.Uint64Var(&f.seed, "seed", 0, "use the seed `N` for all random numbers")
	fl.IntVar(&f.rank, "rank", 0, "feed part `N` of --world, from 0")
	fl.IntVar(&f.world, "world", 1, "divide the samples among `N` feeds")
	fl.StringVar(&f.uneven, "uneven", "repeat", "`WHAT` if feeds of --world differ in length: repeat first samples, drop the last ones, or, if lengths depend on the data, end each feed by itself")
	command.Complete(cmd, "uneven", unevens...)
	fl.IntVarP(&f.workers, "workers", "w", 0, "`N` workers in each stage")
	fl.Lookup("workers").DefValue = "one for each CPU"
	fl.IntVar(&f.prefetch, "prefetch", 2, "prepare `N` batches ahead")
	fl.Var(&f.bytes, "bytes", "limit the samples and batches to `BYTES` of memory; a batch has at most a quarter of it")
	fl.Var(&f.cache, "cache", cacheUsage)
	fl.Lookup("cache").DefValue = noCache
	fl.StringVar(&f.onError, "on-error", "fail", "`WHAT` to do with a sample that fails: fail, skip it, or replace it by another; skip and replace report it")
	command.Complete(cmd, "on-error", slices.Sorted(maps.Keys(onErrors))...)
	return cmd
}

// unevens are the values of --uneven.
var unevens = []string{"repeat", "drop", "end"}

// check refuses flags that are invalid or conflict.
func (f *feedFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) != 1:
		return command.UsageErr("feed: got %d definitions, want one", len(args))
	case onErrors[f.onError] == dataset.FailOnError && f.onError != "fail":
		return command.OneOf("on-error", f.onError, slices.Sorted(maps.Keys(onErrors))...)
	case !slices.Contains(unevens, f.uneven):
		return command.OneOf("uneven", f.uneven, unevens...)
	case f.epochs < 0:
		return command.UsageErr("--epochs %d: want at least 0", f.epochs)
	case f.world < 1:
		return command.UsageErr("--world %d: want at least 1", f.world)
	case f.rank < 0 || f.rank >= f.world:
		return command.UsageErr("--rank %d: want 0 to %d, as --world is %d", f.rank, f.world-1, f.world)
	case f.workers < 0 || f.workers == 0 && command.FirstChanged(cmd, "workers") != "":
		return command.UsageErr("--workers %d: want at least 1", f.workers)
	case f.prefetch < 1:
		return command.UsageErr("--prefetch %d: want at least 1", f.prefetch)
	case f.bytes < 1:
		return command.UsageErr("--bytes %d: want at least 1", f.bytes)
	case f.cache < 1 && command.FirstChanged(cmd, "cache") != "":
		return command.UsageErr("--cache %d: want at least 1", f.cache)
	case f.socket == "" && command.FirstChanged(cmd, "socket") != "":
		return command.UsageErr("--socket: the path is empty")
	}
	return nil
}

// state returns the state of --resume, nil without one.
func (f *feedFlags) state(ctx context.Context) (*dataset.State, error) {
	token := f.resume
	if token == "" {
		return nil, nil
	}
	if file, ok := strings.CutPrefix(token, "@"); ok {
		b, err := source.ReadSmall(ctx, file, nil, source.MaxGraphBytes)
		if err != nil {
			return nil, command.UsageErr("--resume: %w", err)
		}
		token = strings.TrimSpace(string(b))
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	s := &dataset.State{}
	if err == nil {
		err = s.UnmarshalBinary(b)
	}
	if err != nil {
		return nil, command.UsageErr("--resume: not a token of a frame: %w", err)
	}
	return s, nil
}

// token returns the resume token of a run.
func token(s *dataset.State) (string, error) {
	b, err := s.MarshalBinary()
	return base64.RawURLEncoding.EncodeToString(b), err
}

func feed(a *command.App, cmd *cobra.Command, f *feedFlags, args []string) (err error) {
	if err := f.check(cmd, args); err != nil {
		return err
	}
	if t, ok := a.Stdout.(*os.File); ok && f.socket == "" && term.IsTerminal(int(t.Fd())) {
		return command.UsageErr("feed: standard output is a terminal: want a file or a pipe, or --socket PATH")
	}
	ctx := cmd.Context()
	state, err := f.state(ctx)
	if err != nil {
		return err
	}
	d, err := source.ReadDefinition(ctx, args[0], a.Stdin)
	if err != nil {
		return err
	}
	o := dataset.Options{Seed: f.seed, Store: f.outside.Files(), Rank: f.rank, World: f.world, OnError: onErrors[f.onError], OnWarning: a.Complain, CacheBytes: int64(f.cache), DropUneven: f.uneven == "drop"}
	if f.uneven == "end" {
		o.AllDone = func(_ context.Context, done bool) (bool, error) { return done, nil }
	}
	if o.OnError != dataset.FailOnError {
		o.OnSkip = func(e *dataset.SampleError) { a.Complain(trainErr(e)) }
	}
	built, err := dataset.Build(ctx, d, o)
	if err := command.Interrupted(ctx, "nothing was written"); err != nil && built == nil {
		return err
	}
	if err != nil {
		return source.WrongDefinition(err)
	}
	closing := func(c io.Closer) {
		if e := c.Close(); e != nil && err == nil {
			err = command.FailErr("%w", e)
		}
	}
	defer closing(built)
	defer collectMore(int64(f.bytes))()
	run, err := pipeline.New(built, pipeline.Options{Workers: f.workers, Prefetch: f.prefetch, Bytes: int64(f.bytes), BatchBytes: max(int64(f.bytes)/feedBatches, 1)}, state)
	if errors.Is(err, dataset.ErrState) {
		return command.UsageErr("--resume: %w", err)
	}
	if err != nil {
		return command.UsageErr("%w", err)
	}
	defer closing(run)
	w := a.Stdout
	if f.socket != "" {
		conn, err := accept(ctx, f.socket)
		if err != nil {
			return err
		}
		defer conn.Close()
		w = conn
	}
	s := &feedStream{w: &patient{ctx: ctx, w: w}, run: run, columns: built.Columns(), epochs: f.epochs, epochLen: built.Len()}
	return s.feed(ctx)
}

// feedBatches is how many batches fit in --bytes: one is made while another is
// written, and samples as large may wait in a stage and for the next batch.
const feedBatches = 4

// collectMore makes the garbage collector keep the memory near --bytes, unless
// GOMEMLIMIT is set: large batches that are garbage may be as large as all
// that is in use. It returns a function that undoes it.
func collectMore(bytes int64) (undo func()) {
	const least = 512 << 20 // too small a limit would keep the collector busy
	if os.Getenv("GOMEMLIMIT") != "" || bytes > math.MaxInt64/2 {
		return func() {}
	}
	before := debug.SetMemoryLimit(max(2*bytes, least))
	return func() { debug.SetMemoryLimit(before) }
}

// accept creates a Unix socket, waits for a consumer, and removes the socket.
// Only this user can connect: the socket has its mode before it has its name.
func accept(ctx context.Context, path string) (net.Conn, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&fs.ModeSocket == 0 {
			return nil, command.UsageErr("--socket %s: exists and is not a socket: want another path", path)
		}
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			c.Close()
			return nil, command.UsageErr("--socket %s: another program listens there: want another path", path)
		} // it was left by a program that was killed
	}
	temporary := fmt.Sprintf("%s.%d", path, os.Getpid())
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, command.FailErr("--socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	err = os.Chmod(temporary, 0o600)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary) // the error below says more
		return nil, command.FailErr("--socket %s: %w", path, err)
	}
	defer os.Remove(path)
	defer context.AfterFunc(ctx, func() { l.Close() })()
	c, err := l.Accept()
	if e := command.Interrupted(ctx, "no consumer had connected"); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, command.FailErr("--socket %s: %w", path, err)
	}
	return c, nil
}

// grace is how long a write may last after an interrupt: a consumer that does
// not read must not keep the program.
const grace = 2 * time.Second

// errStuck reports a write that was given up.
var errStuck = errors.New("the consumer does not read")

// patient is a writer whose Write ends some time after ctx, even if that of w
// waits for a reader.
type patient struct {
	ctx context.Context
	w   io.Writer
	err error
}

func (p *patient) Write(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := p.w.Write(b)
		done <- result{n, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-p.ctx.Done():
		late := time.NewTimer(grace)
		defer late.Stop()
		select {
		case r = <-done:
		case <-late.C:
			r.err = errStuck
		}
	}
	p.err = r.err
	return r.n, r.err
}
