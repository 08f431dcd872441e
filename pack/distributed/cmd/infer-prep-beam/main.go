// Command infer-prep-beam packs a plan with Apache Beam: in this process with
// Beam's runner prism, or on Spark, Flink or Dataflow by Beam's flags.
//
//	infer-prep-beam --plan plan.json --output packed
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	_ "github.com/infer-prep/infer-prep/codec/all"
	_ "github.com/infer-prep/infer-prep/codec/jpegli"
	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/pack/distributed"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op

	// The stores. Each registers the schemes of its names.
	_ "github.com/infer-prep/infer-prep/store/hdfs"
	_ "github.com/infer-prep/infer-prep/store/httpstore"
	_ "github.com/infer-prep/infer-prep/store/s3"
)

const usage = `usage: infer-prep-beam --plan FILE --output DIR [flags]

It packs the plan that "infer-prep pack plan" wrote. Its flags, the first in
the list below, are --plan, --output, --root, --bad, --verify and --force; all
others are Beam's. By default Beam's runner prism works in this process; it
listens on a port of all network interfaces.

Spark, with Beam's job server beside its master:

  infer-prep-beam --plan plan.json --output packed \
    --runner universal --endpoint HOST:8099 --environment_type LOOPBACK

LOOPBACK processes the images in this process. On the cluster's workers it is

  --environment_type PROCESS --environment_config '{"command": "/opt/infer-prep-beam"}'

if all of them have this program there. FILE, DIR and the input are then opened
by each worker: they are URIs, or paths of a shared disk.

Exit status: 0 success; 1 the pipeline failed; 2 invalid flag or plan.

`

// errUsage reports an invalid flag or plan.
var errUsage = errors.New("invalid usage")

func main() {
	var o distributed.Options
	flag.StringVar(&o.Plan, "plan", "", "pack the plan in FILE, a path or a URI")
	flag.StringVar(&o.Out, "output", "", "write the shards to the folder DIR, a path or a URI")
	flag.StringVar(&o.Root, "root", "", "read the input from the folder DIR in place of the plan's")
	bad := flag.String("bad", "skip", "what to do with a sample that cannot be packed: skip it and report it, or fail")
	flag.BoolVar(&o.Verify, "verify", false, "compare checksums of the shards that are there, not only sizes")
	flag.BoolVar(&o.Force, "force", false, "replace shards of another plan")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	provision := flag.String("provision_endpoint", "", "work for an executor of Spark; set by --environment_type PROCESS")
	flag.Parse()
	if *provision != "" {
		if err := beWorker(*provision); err != nil {
			fmt.Fprintln(os.Stderr, "infer-prep-beam: worker:", err)
			os.Exit(1)
		}
	}
	beam.Init() // a worker does not return

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, *bad, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "infer-prep-beam:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// beWorker prepares this process to be a worker that an executor has started
// with --environment_type PROCESS.
func beWorker(endpoint string) error {
	ctx, cancel := context.WithTimeout(grpcx.WriteWorkerID(context.Background(), flag.Lookup("id").Value.String()), time.Minute)
	defer cancel()
	info, err := tools.ProvisionInfo(ctx, endpoint)
	if err != nil {
		return err
	}
	err = errors.Join(
		flag.Set("worker", "true"),
		flag.Set("logging_endpoint", info.GetLoggingEndpoint().GetUrl()),
		flag.Set("control_endpoint", info.GetControlEndpoint().GetUrl()),
	)
	// Beam's worker would outlive an executor that is killed.
	parent := os.Getppid()
	go func() {
		for os.Getppid() == parent {
			time.Sleep(time.Second)
		}
		os.Exit(1)
	}()
	return err
}

func run(ctx context.Context, o distributed.Options, bad string, out io.Writer) error {
	switch bad {
	case "skip":
		o.OnError = pack.SkipOnError
	case "fail":
	default:
		return fmt.Errorf("%w: --bad %s: want skip or fail", errUsage, bad)
	}
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%w: argument %q: want flags only", errUsage, flag.Arg(0))
	case o.Plan == "" || o.Out == "":
		return fmt.Errorf("%w: want --plan FILE and --output DIR", errUsage)
	}
	if *jobopts.WorkerBinary == "" && runtime.GOOS == "linux" {
		// Workers run this program. Beam would build it from its sources.
		if self, err := os.Executable(); err == nil {
			*jobopts.WorkerBinary = self
		}
	}
	p, s := beam.NewPipelineWithRoot()
	if err := distributed.Pack(ctx, s, o); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	result, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return err
	}
	print(out, o.Out, distributed.Report(result))
	return nil
}

// print prints the summary of an output.
func print(w io.Writer, name string, r *pack.PlanReport) {
	if r == nil { // an asynchronous job, or a runner without counters
		fmt.Fprintln(w, "the job was sent; infer-prep pack finish checks its output")
		return
	}
	var bad strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(r.Bad)) {
		fmt.Fprintf(&bad, ", %d %s", r.Bad[kind], kind)
	}
	fmt.Fprintf(w, "%s: %d shards (%d were there), %d samples, %d bytes; %d bad%s\n", name, r.Shards, r.Resumed, r.Records, r.Bytes, r.BadRecords(), bad.String())
}
