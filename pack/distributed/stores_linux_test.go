package distributed

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/pack/distributed/internal/cluster"
	"github.com/infer-prep/infer-prep/pack/distributed/internal/isolated"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/hdfs/hdfstest"
	"github.com/infer-prep/infer-prep/store/s3/s3test"

	_ "github.com/infer-prep/infer-prep/store/hdfs"
	_ "github.com/infer-prep/infer-prep/store/s3"
)

// TestClusterStores packs plans whose images, listing and output are in S3 and
// in HDFS, by Beam on prism and on Spark, and compares all files with those of
// one process, and the shards with those of local files.
func TestClusterStores(t *testing.T) {
	spark := os.Getenv("INFER_PREP_SPARK")
	if spark == "" {
		t.Skip("INFER_PREP_SPARK is not set: make cluster-test sets it")
	}
	isolated.Require(t)
	clock := time.Now()
	lap := func(what string) {
		t.Logf("%s: %.1f s", what, time.Since(clock).Seconds())
		clock = time.Now()
	}
	s3 := s3test.Start(t)
	s3.Setenv(t) // for this process, infer-prep-beam, and its workers
	dfs, err := hdfstest.Start()
	require.NoError(t, err)
	t.Cleanup(dfs.Close)
	lap("versitygw and Hadoop started")

	const count = 300
	photos := filepath.Join(t.TempDir(), "photos")
	command(t, "procedural", "-count", fmt.Sprint(count), photos)
	files, err := filepath.Glob(filepath.Join(photos, "*", "*"))
	require.NoError(t, err)
	require.Len(t, files, count)
	places := map[string]string{"S3": "s3://" + s3.Bucket, "HDFS": dfs.URIs[0]}
	for place, base := range places {
		for _, f := range files {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			rel, err := filepath.Rel(photos, f)
			require.NoError(t, err)
			require.NoError(t, store.WriteFile(t.Context(), store.URI, store.Join(base, "photos/"+filepath.ToSlash(rel)), b))
		}
		lap(fmt.Sprintf("%d images copied to %s", count, place))
	}
	planned := func(base, photos string) string {
		p := &pack.Plan{Shards: 8, Image: pack.ImageOptions{Resize: 48}, Seed: new(uint64(1))}
		name := store.Join(base, "plan.json")
		_, err := pack.WritePlan(t.Context(), store.URI, name, p, pack.PlanInput{Kind: pack.InputClasses, Name: photos}, pack.PlanWrite{})
		require.NoError(t, err)
		return name
	}
	shards := func(files map[string]string) map[string]string {
		l := maps.Clone(files)
		maps.DeleteFunc(l, func(name, _ string) bool { return strings.HasSuffix(name, ".json") })
		require.GreaterOrEqual(t, len(l), 8*2)
		return l
	}
	local := shards(whole(t, planned(t.TempDir(), photos)))

	cluster.Start(t, spark, 2)
	lap("Spark's master, two workers and Beam's job server started")
	runners := map[string][]string{
		"prism": nil,
		"Spark": {"--runner", "universal", "--endpoint", cluster.Endpoint, "--environment_type", "LOOPBACK"},
	}
	for place, base := range places {
		plan := planned(base, store.Join(base, "photos"))
		want := whole(t, plan)
		require.True(t, maps.Equal(local, shards(want)), "%s: one process writes other shards than from local files", place)
		lap(place + ", one process")
		for runner, args := range runners {
			out := store.Join(base, "packed-"+runner)
			command(t, "infer-prep-beam", append(args, "--plan", plan, "--output", out)...)
			l, err := store.Files(t.Context(), store.URI, []string{out}, false)
			require.NoError(t, err)
			got := map[string]string{}
			for _, f := range l {
				b, err := store.ReadFile(t.Context(), store.URI, f.Name, nil, -1)
				require.NoError(t, err)
				got[f.Name[strings.LastIndexByte(f.Name, '/')+1:]] = string(b)
			}
			require.Len(t, got, len(want), "%s, %s", place, runner)
			for file, content := range want {
				require.True(t, content == got[file], "%s, %s: %s differs", place, runner, file)
			}
			lap(fmt.Sprintf("%s, Beam on %s: %d files are equal", place, runner, len(got)))
		}
	}
}
