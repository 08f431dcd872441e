package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/s3/s3test"
)

// packPlan: input, plan and output in S3 give the shards of the local disk,
// and an object that has changed since the plan is a bad sample.
func packPlan(t *testing.T, srv *s3test.Server) {
	remote, local := "s3://"+srv.Bucket, t.TempDir()
	images, err := filepath.Glob("../../testdata/images/jpeg_*.jpg")
	require.NoError(t, err)
	require.Greater(t, len(images), 20)
	var names []string
	for i, name := range images[:20] {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		to := fmt.Sprintf("in/c%d/%s", i%2, filepath.Base(name))
		names = append(names, to)
		require.NoError(t, os.MkdirAll(filepath.Join(local, filepath.Dir(to)), 0o777))
		for _, base := range []string{local, remote} {
			require.NoError(t, store.WriteFile(t.Context(), store.URI, store.Join(base, to), b))
		}
	}
	bad := map[string]map[string]int64{}
	run := func(base, out string, parts int) (all []string) {
		t.Helper()
		p, err := pack.ReadPlan(t.Context(), store.URI, store.Join(base, "plan.json"), pack.PlanRead{})
		require.NoError(t, err)
		defer p.Close()
		for i := range parts {
			_, err := (&pack.PlanPart{Plan: p, Out: store.Join(base, out), Part: i, Parts: parts, OnError: pack.SkipOnError}).Run(t.Context())
			require.NoError(t, err)
		}
		r, err := p.Finish(t.Context(), store.Join(base, out), pack.PlanFinish{Verify: true})
		require.NoError(t, err)
		bad[out] = r.Bad
		for i := range p.Shards {
			for _, end := range []string{".tar", ".tar.index"} {
				b, err := store.ReadFile(t.Context(), store.URI, store.Join(base, fmt.Sprintf("%s/data-%05d%s", out, i, end)), nil, -1)
				require.NoError(t, err)
				all = append(all, string(b))
			}
		}
		return all
	}
	seed := uint64(4)
	for _, base := range []string{local, remote} {
		p := &pack.Plan{Output: pack.PlanShards, Shards: 3, Seed: &seed, Image: pack.ImageOptions{Resize: 20}}
		_, err := pack.WritePlan(t.Context(), store.URI, store.Join(base, "plan.json"), p, pack.PlanInput{Kind: pack.InputClasses, Name: store.Join(base, "in")}, pack.PlanWrite{})
		require.NoError(t, err)
	}
	want := run(local, "out", 1)
	require.Equal(t, want, run(remote, "out", 2))
	require.Empty(t, bad["out"])

	// One file has another size, and one only another byte. Their ETags differ,
	// though the second one may be as old as the plan.
	require.NoError(t, store.WriteFile(t.Context(), store.URI, store.Join(remote, names[3]), []byte(strings.Repeat("x", 77))))
	b, err := store.ReadFile(t.Context(), store.URI, store.Join(remote, names[4]), nil, -1)
	require.NoError(t, err)
	b[len(b)-1]++
	require.NoError(t, store.WriteFile(t.Context(), store.URI, store.Join(remote, names[4]), b))
	run(remote, "again", 1)
	require.Equal(t, map[string]int64{pack.BadChanged: 2}, bad["again"])
}
