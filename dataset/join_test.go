package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/csv"
	"github.com/infer-prep/infer-prep/tensor"
)

// squares is a table of the squares of the numbers from from on, in falling
// order.
func squares(from, n int64, stream bool) *dataset.Dataset {
	col := []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}, {Name: "square", Desc: int64Column[0].Desc}}
	last := from + n - 1
	return dataset.Of(&numbers{N: n, Stream: stream}).MapFunc(func(_ *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		v := last - x(src[0])
		for i, y := range []int64{v, v * v} {
			if err := dst[i].Reset(int64Column[0].Desc); err != nil {
				return err
			}
			tensor.View[int64](&dst[i].Tensor)[0] = y
		}
		return nil
	}, []string{"x"}, dataset.Column{Name: col[0].Name, Desc: col[0].Desc}, dataset.Column{Name: col[1].Name, Desc: col[1].Desc})
}

// TestJoin joins squares to shuffled and streamed numbers, on both engines, on
// two ranks, and resumed at any sample.
func TestJoin(t *testing.T) {
	for name, left := range map[string]*dataset.Dataset{
		"shuffled": dataset.Of(&numbers{N: 10}).Shuffle(), "a stream": dataset.Of(&numbers{N: 10, Stream: true}).ShuffleBuffer(4),
		"batches": dataset.Of(&numbers{N: 10}).Shuffle().Batch(3).Unbatch(),
	} {
		for _, stream := range []bool{false, true} {
			table := squares(0, 12, stream)
			if !stream {
				table = table.Cache(1 << 20)
			}
			d := left.Join(table, "x")
			b, err := dataset.Build(t.Context(), d, dataset.Options{Seed: 2})
			require.NoError(t, err, name)
			plain, err := dataset.Build(t.Context(), left, dataset.Options{Seed: 2})
			require.NoError(t, err)
			require.Equal(t, plain.Len(), b.Len())
			require.Equal(t, "square", b.Columns()[1].Name)
			pairs := func(p runner, most int) (l [][2]int64) {
				for len(l) < most {
					s, err := p.Next(context.Background())
					if err != nil {
						break
					}
					l = append(l, [2]int64{x(&s.Column("x").Tensor), x(&s.Column("square").Tensor)})
				}
				return l
			}
			want := pairs(pull(t, b, nil), 100)
			require.Len(t, want, 10)
			seen := map[int64]bool{}
			for _, p := range want {
				require.Equal(t, p[0]*p[0], p[1])
				seen[p[0]] = true
			}
			require.Len(t, seen, 10)
			for k := range want {
				p := parallel(t, b, 2, nil)
				require.Equal(t, want[:k], append([][2]int64{}, pairs(p, k)...))
				q := pull(t, b, p.State())
				require.Equal(t, want[k:], pairs(q, 100), "%s: resumed after %d", name, k)
				require.NoError(t, errors.Join(p.Close(), q.Close()))
			}
			if name == "shuffled" {
				all, err := ranks(t, d, 2, dataset.Options{Seed: 2})
				require.NoError(t, err)
				for rank, b := range all {
					for k, p := range pairs(pull(t, b, nil), 100) {
						require.Equal(t, want[2*k+rank], p)
					}
				}
			}
			require.NoError(t, errors.Join(b.Close(), plain.Close()))
		}
	}
}

// TestJoinByName joins transcripts to utterances by their names, and skips
// those without one.
func TestJoinByName(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) *dataset.Dataset {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return dataset.From(csv.New(filepath.Join(dir, name)))
	}
	features := write("f.csv", "key,feature\nu2,two\nu3,three\nu1,one\n")
	d := features.Join(write("l.csv", "text,key\nhello,u1\nworld,u2\nunused,u9\n"), "key")
	b, err := dataset.Build(t.Context(), d, dataset.Options{OnError: dataset.SkipOnError})
	require.NoError(t, err)
	p := pull(t, b, nil)
	var got []string
	for {
		s, err := p.Next(t.Context())
		if err != nil {
			break
		}
		got = append(got, fmt.Sprintf("%s %s %s", s.Column("key").Data, s.Column("feature").Data, s.Column("text").Data))
	}
	require.Equal(t, []string{"u2 two world", "u1 one hello"}, got)
	require.NoError(t, errors.Join(p.Close(), b.Close()))
	b, err = dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	p = pull(t, b, nil)
	_, err = p.Next(t.Context())
	require.NoError(t, err)
	_, err = p.Next(t.Context())
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, `the second input has no sample with the key "u3"`)
	require.NoError(t, errors.Join(p.Close(), b.Close()))

	// A file cache above sees another table.
	cached := func(text string) string {
		d := write("g.csv", "key,feature\nu1,one\n").Join(write("l.csv", text), "key").FileCache(filepath.Join(dir, "cache"), 1<<20)
		b, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.NoError(t, err)
		p := pull(t, b, nil)
		s, err := p.Next(t.Context())
		require.NoError(t, err)
		out := string(s.Column("text").Data)
		require.NoError(t, errors.Join(p.Close(), b.Close()))
		return out
	}
	require.Equal(t, "first", cached("key,text\nu1,first\n"))
	require.Equal(t, "other", cached("key,text\nu1,other\n"))

	for _, c := range []struct {
		d    *dataset.Dataset
		want string
	}{
		{features.Join(write("d.csv", "key,text\nu1,a\nu1,b\n"), "key"), `have the key "u1"`},
		{features.Join(features, "key"), `column 2 is named "feature", want a unique name`},
		{features.Join(write("n1.csv", "name,text\nu1,a\n"), "key"), `input 1: invalid definition: unknown column "key"`},
		{features.Join(write("n2.csv", "key,text\nu1,a\n").Shuffle(), "key"), "1:shuffle in the second input differs between epochs"},
		{features.Join(dataset.Of(&numbers{N: 3, Bad: 2}).Rename([]string{"x"}, []string{"key"}), "key"), "trouble"},
		{dataset.Of(&numbers{N: 3}).Join(dataset.Of(&numbers{N: 3}).Batch(2), "x"), "the key is int64 (?,), want bytes, int32 or int64"},
		{dataset.Of(&dataset.Join{On: "key"}, features, write("n.csv", "key,text\nu1,a\n")), "has more than 0 bytes"},
		{dataset.Of(&dataset.Join{On: "key"}, features), "1 inputs, want 2"},
		{dataset.Of(&dataset.Join{}, features, features), `on "", 0 bytes`},
	} {
		_, err := dataset.Build(t.Context(), c.d, dataset.Options{})
		require.ErrorContains(t, err, c.want, c.want)
	}
}
