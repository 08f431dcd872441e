package pack

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
)

// versioned is a store of a local folder with the name ver://in. Its files have
// versions. Other names are local.
type versioned struct {
	store.Opener
	dir            string
	listed, opened map[string]string // versions by the base of the name
}

const versionedFolder = "ver://in"

func (v *versioned) local(name string) string {
	if rest, ok := strings.CutPrefix(name, versionedFolder); ok {
		return filepath.Join(v.dir, rest)
	}
	return name
}

func (v *versioned) Open(ctx context.Context, name string) (store.File, error) {
	f, err := v.Opener.Open(ctx, v.local(name))
	if version := v.opened[store.Base(name)]; err == nil && version != "" {
		f = described{f, version}
	}
	return f, err
}

// described is a file with a version and no time.
type described struct {
	store.File
	version string
}

func (d described) Modified() time.Time { return time.Time{} }
func (d described) Version() string     { return d.version }

func (v *versioned) Stat(ctx context.Context, name string) (store.Info, error) {
	return v.Opener.Stat(ctx, v.local(name))
}

func (v *versioned) List(ctx context.Context, folder string) ([]store.Info, error) {
	l, err := v.Opener.List(ctx, v.local(folder))
	for i := range l {
		base := filepath.Base(l[i].Name)
		l[i].Name, l[i].Version = folder+"/"+base, v.listed[base]
	}
	return l, err
}

// TestPlanVersions: a plan of a store with versions finds a file that was
// replaced by one with the same size and time.
func TestPlanVersions(t *testing.T) {
	dir, _ := classPhotos(t, 1, 3)
	v := &versioned{Opener: store.Local, dir: filepath.Join(dir, "class0"), listed: map[string]string{}}
	write := func() (p *Plan, text string) {
		name := filepath.Join(t.TempDir(), "plan.json")
		_, err := WritePlan(t.Context(), v, name, &Plan{Shards: 1}, PlanInput{Name: versionedFolder}, PlanWrite{})
		require.NoError(t, err)
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		p, err = ReadPlan(t.Context(), v, name, PlanRead{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, p.Close()) })
		return p, string(b)
	}
	bad := func(p *Plan) (why []string) {
		_, err := (&PlanPart{Plan: p, Out: t.TempDir(), OnError: SkipOnError, OnBad: func(b *BadRecord) {
			require.Equal(t, BadChanged, b.Kind)
			why = append(why, b.Path+": "+b.Why)
		}}).Run(t.Context())
		require.NoError(t, err)
		return why
	}
	plain, text := write()
	require.NotContains(t, text, "versions")
	v.listed = map[string]string{"img000.jpg": "a", "img001.jpg": "b"}
	p, text := write()
	require.Contains(t, text, `"versions": true`)
	require.NotEqual(t, plain.Digest, p.Digest)
	var got []uint64
	for e, err := range p.Entries(t.Context(), 0) {
		require.NoError(t, err)
		got = append(got, e.Files[0].Version)
	}
	require.Equal(t, []uint64{digestVersion("a"), digestVersion("b"), 0}, got)
	require.Equal(t, uint64(0xcabd1bca128197ca), got[0], "of the SHA-256 of \"a\"")

	for _, c := range []struct {
		opened map[string]string
		want   []string
	}{
		{v.listed, nil},
		{nil, nil}, // a store that does not tell when it opens
		{map[string]string{"img000.jpg": "a", "img001.jpg": "B", "img002.jpg": "c"}, []string{"img001.jpg: changed since the plan was made: another version (ETag) than in the plan"}},
	} {
		v.opened = c.opened
		require.Equal(t, c.want, bad(p))
		require.Empty(t, bad(plain))
	}
}
