package distributed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/stretchr/testify/require"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/pack/distributed/internal/cluster"
	"github.com/infer-prep/infer-prep/pack/distributed/internal/isolated"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// TestCluster packs 10,000 images by one process, by four, by Beam on prism and
// by Beam on Spark, and compares all files. make cluster-test runs it: it sets
// INFER_PREP_SPARK to the folder of cluster/install.sh and builds the commands.
func TestCluster(t *testing.T) {
	spark := os.Getenv("INFER_PREP_SPARK")
	if spark == "" {
		t.Skip("INFER_PREP_SPARK is not set: make cluster-test sets it")
	}
	isolated.Require(t)
	interfaces, err := net.Interfaces()
	require.NoError(t, err)
	require.Len(t, interfaces, 1, "want loopback alone: prism and the job server listen on all addresses")

	const n = 10_000
	count := n
	if s := os.Getenv("INFER_PREP_CLUSTER_COUNT"); s != "" { // for a quick look
		count, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	dir := t.TempDir()
	photos := filepath.Join(dir, "photos")
	clock := time.Now()
	lap := func(what string) {
		t.Logf("%s: %.1f s", what, time.Since(clock).Seconds())
		clock = time.Now()
	}
	command(t, "procedural", "-count", fmt.Sprint(count), photos)
	lap(fmt.Sprintf("%d images made", count))

	// Two plans: image records, and tensors in tar shards.
	plans := map[string]string{}
	for name, args := range map[string][]string{
		"records": {"--format", "recordio", "--resize", "48"},
		"tensors": {"--preset", "imagenet", "--dtype", "float16", "--format", "webdataset"},
	} {
		if name == "tensors" { // 3 GB for all images
			small := filepath.Join(dir, "few")
			command(t, "procedural", "-count", fmt.Sprint(min(count, 1000)), "-seed", "2", small)
			args = append(args, small)
		} else {
			args = append(args, photos)
		}
		plans[name] = filepath.Join(dir, name+".json")
		command(t, "infer-prep", append([]string{"pack", "plan", "-q", "-o", plans[name], "--input", "classes", "--shards", "32", "--seed", "1"}, args...)...)
	}
	want := map[string]map[string]string{}
	for name, plan := range plans {
		one := filepath.Join(dir, name+"-one")
		command(t, "infer-prep", "pack", "--plan", plan, "-q", "-o", one)
		command(t, "infer-prep", "pack", "finish", "--plan", plan, "-q", "-o", one)
		want[name] = folder(t, one)
		require.Len(t, want[name], 32*3+2) // with classes.txt and the index of all
		lap(name + ", one process")
	}
	// equal compares an output and removes it.
	equal := func(t *testing.T, name, out string) {
		t.Helper()
		got := folder(t, out)
		require.Len(t, got, len(want[name]))
		for file, content := range want[name] {
			require.True(t, content == got[file], "%s differs", file)
		}
		require.NoError(t, os.RemoveAll(out))
	}

	for name, plan := range plans {
		out := filepath.Join(dir, name+"-four")
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				command(t, "infer-prep", "pack", "--plan", plan, "--shard", fmt.Sprintf("%d/4", i), "-q", "-o", out)
			})
		}
		wg.Wait()
		command(t, "infer-prep", "pack", "finish", "--plan", plan, "-q", "-o", out)
		equal(t, name, out)
		lap(name + ", four processes")

		out = filepath.Join(dir, name+"-prism")
		command(t, "infer-prep-beam", "--plan", plan, "--output", out)
		equal(t, name, out)
		lap(name + ", Beam on prism")
	}

	c := cluster.Start(t, spark, 2)
	lap("Spark's master, two workers and Beam's job server started")
	remote := []string{"--runner", "universal", "--endpoint", cluster.Endpoint}
	for name, plan := range plans {
		out := filepath.Join(dir, name+"-loopback")
		command(t, "infer-prep-beam", append(remote, "--environment_type", "LOOPBACK", "--plan", plan, "--output", out)...)
		equal(t, name, out)
		lap(name + ", Beam on Spark, LOOPBACK")
	}

	// Half-way through the images a worker dies with its executor.
	out := filepath.Join(dir, "records-killed")
	var calls atomic.Int64
	onRecord = func() {
		if calls.Add(1) == int64(count/2) {
			c.KillWorker(0)
		}
	}
	defer func() { onRecord = nil }()
	*jobopts.Endpoint, *jobopts.EnvironmentType = cluster.Endpoint, "LOOPBACK"
	defer func() { *jobopts.Endpoint, *jobopts.EnvironmentType = "", "" }()
	p, s := beam.NewPipelineWithRoot()
	require.NoError(t, Pack(t.Context(), s, Options{Plan: plans["records"], Out: out, OnError: pack.SkipOnError}))
	_, err = beam.Run(t.Context(), "universal", p)
	require.NoError(t, err)
	equal(t, "records", out)
	require.Greater(t, calls.Load(), int64(count), "no work was repeated: was a worker killed?")
	lap(fmt.Sprintf("records, Beam on Spark, a worker killed, %d images processed", calls.Load()))

	// With PROCESS the executor that is left starts workers of its own.
	out = filepath.Join(dir, "records-process")
	config, err := json.Marshal(map[string]string{"command": built(t, "infer-prep-beam")})
	require.NoError(t, err)
	command(t, "infer-prep-beam", append(remote, "--environment_type", "PROCESS", "--environment_config", string(config), "--plan", plans["records"], "--output", out)...)
	equal(t, "records", out)
	lap("records, Beam on Spark with one worker, PROCESS")
}

// built returns the path of a command that make cluster-test has built.
func built(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "bin", name))
	require.NoError(t, err)
	require.FileExists(t, path, "make cluster-test builds it")
	return path
}

// command runs a command, which must succeed.
func command(t testing.TB, name string, args ...string) {
	t.Helper()
	c := exec.Command(built(t, name), args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	_ = c.Run()
	require.Equal(t, 0, c.ProcessState.ExitCode(), "%s %q: %s", name, args, out.Bytes()[max(0, out.Len()-4000):])
}
