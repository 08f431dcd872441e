package pack

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestPlanBad: every kind of bad sample, the same for any part and worker.
func TestPlanBad(t *testing.T) {
	dir, _ := classPhotos(t, 1, 8)
	at := func(i int) string { return filepath.Join(dir, "class0", fmt.Sprintf("img%03d.jpg", i)) }
	big := planPhoto(t, 1)
	require.NoError(t, os.WriteFile(at(3), []byte("no image"), 0o666))
	require.NoError(t, os.WriteFile(at(4), append(big, make([]byte, 5000)...), 0o666))
	require.NoError(t, os.WriteFile(at(5), []byte("\x00\x00\x00\x18ftypheic...."), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "class0", "img000.png"), planPhoto(t, 2), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "class0", ".x.jpg"), planPhoto(t, 2), 0o666))
	image := ImageOptions{}
	image.Limits.Bytes = 4000
	p := writePlan(t, &Plan{Output: PlanShards, Shards: 2, Image: image}, PlanInput{Kind: InputClasses, Name: dir})
	require.Equal(t, int64(9), p.Count) // img000.jpg, img000.png, img001.jpg, …

	// Files that change after the plan.
	require.NoError(t, os.Remove(at(1)))
	require.NoError(t, os.WriteFile(at(2), planPhoto(t, 77), 0o666))
	require.NoError(t, os.Chtimes(at(2), time.Now(), time.Unix(1e9, 0)))
	f, err := os.OpenFile(at(6), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("more")
	require.NoError(t, errJoin(err, f.Close()))

	var want map[string]string
	for _, workers := range []int{1, 4} {
		out := t.TempDir()
		var bad []string
		r, err := (&PlanPart{Plan: p, Out: out, Workers: workers, OnError: SkipOnError, OnBad: func(b *BadRecord) { bad = append(bad, b.Kind) }}).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, map[string]int64{BadDuplicate: 1, BadMissing: 1, BadChanged: 2, BadImage: 1, BadLimit: 1, BadUnsupported: 1}, r.Bad)
		require.Equal(t, int64(7), r.BadRecords())
		require.Equal(t, []string{BadMissing, BadChanged, BadImage, BadLimit, BadUnsupported, BadChanged}, bad)
		got := folder(t, out)
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
		require.NotContains(t, got["data-00000.json"], dir, "texts do not depend on the machine")
		require.Contains(t, got["data-00000.json"], `"why": "no such file"`)
	}
	_, err = (&PlanPart{Plan: p, Out: t.TempDir()}).Run(t.Context())
	var bad *BadRecord
	require.ErrorAs(t, err, &bad)
	require.Equal(t, BadMissing, bad.Kind)
	require.EqualError(t, err, "pack: plan: class0/img001.jpg: position 2: no such file (missing)")

	// Paths of a list that lead out of the folder.
	list := filepath.Join(t.TempDir(), "a.lst")
	require.NoError(t, os.WriteFile(list, []byte("5\t1\t../x.jpg\n7\t1\t0.5\tclass0/img007.jpg\n8\tnan\tclass0/img007.jpg\n9\t1\tclass0\n"), 0o666))
	for _, output := range []PlanOutput{PlanRecordIO, PlanShards} {
		p = writePlan(t, &Plan{Output: output}, PlanInput{Kind: InputList, Name: list, Root: dir})
		r, err := (&PlanPart{Plan: p, Out: t.TempDir(), OnError: SkipOnError}).Run(t.Context())
		require.NoError(t, err)
		want := map[string]int64{BadOutside: 1, BadMissing: 1}
		if output == PlanShards { // the label, and the name without an extension
			want = map[string]int64{BadOutside: 1, BadSample: 2}
		}
		require.Equal(t, want, r.Bad)
	}
}

// failing is a store that fails at times.
type failing struct {
	store.Opener
	open, create error
	created      atomic.Int64
}

func (f *failing) Open(ctx context.Context, name string) (store.File, error) {
	if f.open != nil && strings.HasSuffix(name, ".jpg") {
		return nil, f.open
	}
	return f.Opener.Open(ctx, name)
}

func (f *failing) Create(ctx context.Context, name string) (store.NewFile, error) {
	f.created.Add(1)
	if f.create != nil {
		return nil, f.create
	}
	return f.Opener.Create(ctx, name)
}

// TestPlanStoreFails: a store that does not answer ends the part. It makes no
// bad samples, and leaves no shard.
func TestPlanStoreFails(t *testing.T) {
	dir, _ := classPhotos(t, 2, 4)
	name := filepath.Join(t.TempDir(), "plan.json")
	f := &failing{Opener: store.Local}
	// The store is not the local disk, so this also lists without ListNames.
	l, err := WritePlan(t.Context(), f, name, &Plan{Shards: 2}, PlanInput{Kind: InputClasses, Name: dir}, PlanWrite{})
	require.NoError(t, err)
	require.Equal(t, int64(8), l.Samples)
	require.Equal(t, 2, l.Shards)
	p, err := ReadPlan(t.Context(), f, name, PlanRead{})
	require.NoError(t, err)
	defer p.Close()
	out := t.TempDir()
	for _, e := range []error{errors.New("503 Slow Down"), fs.ErrPermission} {
		f.open = e
		_, err := (&PlanPart{Plan: p, Out: out, OnError: SkipOnError}).Run(t.Context())
		require.ErrorIs(t, err, e)
		require.Empty(t, folder(t, out))
	}
	f.open, f.create = nil, errors.New("no space")
	_, err = (&PlanPart{Plan: p, Out: out, OnError: SkipOnError}).Run(t.Context())
	require.ErrorIs(t, err, f.create)
	require.Empty(t, folder(t, out))
	f.create = nil
	ctx, cancel := context.WithCancel(t.Context())
	_, err = (&PlanPart{Plan: p, Out: out, Workers: 2, Progress: func(done, _ int64) {
		if done == 6 {
			cancel()
		}
	}}).Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, folder(t, out), 3, "the first shard")

	// The run goes on with the second shard.
	f.created.Store(0)
	r, err := (&PlanPart{Plan: p, Out: out}).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, r.Resumed)
	require.Equal(t, int64(3), f.created.Load())
	_, err = p.Finish(t.Context(), out, PlanFinish{})
	require.NoError(t, err)
}

// TestPlanResumes: what is there and whole is not made again, and what is not
// whole is.
func TestPlanResumes(t *testing.T) {
	dir, _ := classPhotos(t, 2, 6)
	for _, output := range []PlanOutput{PlanRecordIO, PlanShards} {
		f := &failing{Opener: store.Local}
		name := filepath.Join(t.TempDir(), "plan.json")
		_, err := WritePlan(t.Context(), f, name, &Plan{Output: output, Shards: 3}, PlanInput{Kind: InputClasses, Name: dir}, PlanWrite{})
		require.NoError(t, err)
		p, err := ReadPlan(t.Context(), f, name, PlanRead{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, p.Close()) })
		out := t.TempDir()
		part := &PlanPart{Plan: p, Out: out}
		_, err = part.Run(t.Context())
		require.NoError(t, err)
		want := folder(t, out)
		again := func(made int64, verify bool) {
			t.Helper()
			f.created.Store(0)
			part.Verify = verify
			r, err := part.Run(t.Context())
			require.NoError(t, err)
			require.Equal(t, 3*made, f.created.Load())
			require.Equal(t, 3-int(made), r.Resumed)
			require.Equal(t, want, folder(t, out))
		}
		again(0, false)
		again(0, true)
		left, err := p.Finish(t.Context(), filepath.Join(dir, "no folder"), PlanFinish{})
		require.ErrorIs(t, err, ErrIncomplete)
		require.Len(t, left.Missing, 3)
		_, err = WritePlan(t.Context(), f, dir, &Plan{Output: output}, PlanInput{Kind: InputClasses, Name: dir}, PlanWrite{Force: true})
		require.ErrorContains(t, err, "a folder: want the name of a JSON file")
		suffixes := p.suffixes()
		for _, end := range append(suffixes[:], summaryEnd) {
			file := filepath.Join(out, "data-00001"+end)
			require.NoError(t, os.Remove(file))
			r, err := p.Finish(t.Context(), out, PlanFinish{})
			require.ErrorIs(t, err, ErrIncomplete)
			require.Equal(t, []int{1}, r.Missing)
			require.NoFileExists(t, filepath.Join(out, "data-index.json"))
			again(1, false)
			b := []byte(want["data-00001"+end])
			require.NoError(t, os.WriteFile(file, b[:len(b)-1], 0o666))
			if end != summaryEnd {
				again(1, false)
				b[0] ^= 1
				require.NoError(t, os.WriteFile(file, b, 0o666))
				r, err = p.Finish(t.Context(), out, PlanFinish{Verify: true})
				require.ErrorIs(t, err, ErrIncomplete)
				require.Contains(t, r.Why[0], "checksum")
				again(1, true)
				continue
			}
			require.NoError(t, os.WriteFile(file, b[:len(b)/2], 0o666))
			again(1, false)
		}

		// Shards of another plan.
		other := filepath.Join(t.TempDir(), "other.json")
		_, err = WritePlan(t.Context(), f, other, &Plan{Output: output, Shards: 3, Seed: new(uint64)}, PlanInput{Kind: InputClasses, Name: dir}, PlanWrite{})
		require.NoError(t, err)
		q, err := ReadPlan(t.Context(), f, other, PlanRead{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, q.Close()) })
		part = &PlanPart{Plan: q, Out: out}
		_, err = part.Run(t.Context())
		require.ErrorIs(t, err, ErrOther)
		_, err = q.Finish(t.Context(), out, PlanFinish{})
		require.ErrorIs(t, err, ErrOther)
		part.Force = true
		_, err = part.Run(t.Context())
		require.NoError(t, err)
		_, err = q.Finish(t.Context(), out, PlanFinish{})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(out, "data-00003"+suffixes[0]), nil, 0o666))
		_, err = q.Finish(t.Context(), out, PlanFinish{})
		require.ErrorIs(t, err, ErrOther)
		require.ErrorContains(t, err, "data-00003"+suffixes[0])
	}
}

// TestPlanTogether: several processes that pack the same shards at once do no
// harm.
func TestPlanTogether(t *testing.T) {
	dir, _ := classPhotos(t, 2, 10)
	p := writePlan(t, &Plan{Output: PlanShards, Shards: 4, Seed: new(uint64(1))}, PlanInput{Kind: InputClasses, Name: dir})
	want, out := t.TempDir(), t.TempDir()
	_, err := (&PlanPart{Plan: p, Out: want}).Run(t.Context())
	require.NoError(t, err)
	done := make(chan error)
	for range 5 {
		go func() {
			_, err := (&PlanPart{Plan: p, Out: out, Workers: 2}).Run(context.WithoutCancel(t.Context()))
			done <- err
		}()
	}
	for range 5 {
		require.NoError(t, <-done)
	}
	require.Equal(t, folder(t, want), folder(t, out))
}

// TestWriteShardChecks: WriteShard refuses records that are not the shard's.
func TestWriteShardChecks(t *testing.T) {
	dir, _ := classPhotos(t, 1, 6)
	p := writePlan(t, &Plan{Shards: 2}, PlanInput{Name: dir})
	records := func(shard int) (l []Record) {
		for e, err := range p.Entries(t.Context(), shard) {
			require.NoError(t, err)
			r, err := p.Record(t.Context(), &e)
			require.NoError(t, err)
			l = append(l, r)
		}
		return l
	}
	seq := func(l []Record) iter.Seq2[Record, error] {
		return func(yield func(Record, error) bool) {
			for _, r := range l {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	l, other := records(0), records(1)
	out := t.TempDir()
	for want, wrong := range map[string][]Record{
		"position 3: want position 0": other,
		"end at position 1":           l[:2],
		"position 3: want position 3": append(l[:3:3], other[0]),
		"position 0: want position 1": {l[0], l[0], l[2]},
		"position 2: want position 1": {l[0], l[2], l[1]},
		"data of 3 bytes":             {l[0], {Position: 1, Data: []byte("abc")}, l[2]},
	} {
		_, err := p.WriteShard(t.Context(), out, 0, seq(wrong))
		require.ErrorContains(t, err, want)
		require.Empty(t, folder(t, out))
	}
	_, err := p.WriteShard(t.Context(), out, 2, seq(l))
	require.ErrorContains(t, err, "shard 2: want 0 to 1")
	s, err := p.WriteShard(t.Context(), out, 0, seq(l))
	require.NoError(t, err)
	require.Equal(t, int64(3), s.Records)
	got, why, err := p.Packed(t.Context(), out, 0, true)
	require.NoError(t, err)
	require.Empty(t, why)
	require.Equal(t, s, got)
}

// TestPlanGraph: a graph's tensors, and the kinds of its errors.
func TestPlanGraph(t *testing.T) {
	dir, _ := classPhotos(t, 2, 2)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "class1", "x.jpg"), []byte("no image"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "class1", "a.b.jpg"), planPhoto(t, 1), 0o666))
	g := datagraph.New(&transforms.Decode{}, transforms.NewCenterCrop(4, 4)).Rename("pixels")
	p := writePlan(t, &Plan{Output: PlanShards, Graph: g}, PlanInput{Kind: InputClasses, Name: dir})
	out := t.TempDir()
	r, err := (&PlanPart{Plan: p, Out: out, OnError: SkipOnError}).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{BadImage: 1}, r.Bad)
	b := folder(t, out)["data-00000.tar"]
	for _, name := range []string{"class0/img000.cls", "class0/img000.pixels.npy", "class1/a%2eb.pixels.npy"} {
		require.Contains(t, b, name+"\x00")
	}
	for want, wrong := range map[string]*Plan{
		"image records hold no tensors": {Graph: g},
		"random ops":                    {Output: PlanShards, Graph: datagraph.New(&transforms.Decode{}, transforms.NewRandomHorizontalFlip())},
	} {
		_, err := WritePlan(t.Context(), store.Local, filepath.Join(out, "p.json"), wrong, PlanInput{Name: dir}, PlanWrite{})
		require.ErrorContains(t, err, want)
	}
}

// TestWritePlanRefuses: inputs and options that make no plan.
func TestWritePlanRefuses(t *testing.T) {
	dir, _ := classPhotos(t, 2, 2)
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.Mkdir(empty, 0o777))
	file := func(name, text string) string {
		name = filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
		return name
	}
	for _, c := range []struct {
		want string
		p    *Plan
		in   PlanInput
	}{
		{`class "empty" has no image`, &Plan{}, PlanInput{Kind: InputClasses, Name: dir}},
		{"no samples: want files with the extension .jpg", &Plan{}, PlanInput{Name: empty}},
		{"no samples: want files with a dot", &Plan{Output: PlanShards}, PlanInput{Kind: InputSamples, Name: empty}},
		{"image records hold one image each", &Plan{}, PlanInput{Kind: InputSamples, Name: dir}},
		{"are packed unchanged", &Plan{Output: PlanShards, Image: ImageOptions{}}, PlanInput{Kind: InputSamples, Name: dir}},
		{"no input", &Plan{}, PlanInput{}},
		{"gone: ", &Plan{}, PlanInput{Name: filepath.Join(dir, "gone")}},
		{"5 shards of 4 samples", &Plan{Shards: 5}, PlanInput{Name: dir}},
		{"1000001 shards", &Plan{Shards: 1000001}, PlanInput{Name: dir}},
		{"-1 samples per shard", &Plan{PerShard: -1}, PlanInput{Name: dir}},
		{`name "../x"`, &Plan{Name: "../x"}, PlanInput{Name: dir}},
		{`name "a%d"`, &Plan{Name: "a%d"}, PlanInput{Name: dir}},
		{"quality 101", &Plan{Image: ImageOptions{Quality: 101}}, PlanInput{Name: dir}},
		{"input kind 9", &Plan{}, PlanInput{Kind: 9, Name: dir}},
		{"a.lst:2: invalid line", &Plan{}, PlanInput{Kind: InputList, Name: file("a.lst", "0\t1\ta.jpg\nx\n")}},
		{`m.json:1: invalid line of a manifest: no "usage"`, &Plan{}, PlanInput{Kind: InputManifest, Name: file("m.json", "{}\n")}},
		{`m.json:2: invalid line of a manifest: no "annotation"`, &Plan{}, PlanInput{Kind: InputManifest, Name: file("m.json", "\n{\"usage\":\"train\",\"source\":\"a\"}\n")}},
		{`lines of usage "eval"`, &Plan{}, PlanInput{Kind: InputManifest, Usage: "eval", Name: file("m.json", "{\"usage\":\"train\"}\n")}},
	} {
		if c.in.Kind == InputSamples && c.want != "are packed unchanged" {
			c.p.Image.Encoding = PassThrough
		}
		out := t.TempDir()
		_, err := WritePlan(t.Context(), store.Local, filepath.Join(out, "plan.json"), c.p, c.in, PlanWrite{})
		require.ErrorContains(t, err, c.want)
		require.Empty(t, folder(t, out), c.want)
	}
	require.NoError(t, os.Remove(empty))
	name := filepath.Join(t.TempDir(), "plan.json")
	_, err := WritePlan(t.Context(), store.Local, name, &Plan{}, PlanInput{Name: dir}, PlanWrite{})
	require.NoError(t, err)
	_, err = WritePlan(t.Context(), store.Local, name, &Plan{}, PlanInput{Name: dir}, PlanWrite{})
	require.ErrorIs(t, err, ErrExists)
	_, err = WritePlan(t.Context(), store.Local, name, &Plan{}, PlanInput{Name: dir}, PlanWrite{Force: true})
	require.NoError(t, err)
	_, err = WritePlan(t.Context(), store.Local, filepath.Join(t.TempDir(), "a.list"), &Plan{}, PlanInput{Name: dir}, PlanWrite{})
	require.ErrorContains(t, err, "want the name of a JSON file")
}

// TestReadPlanRefuses: plans that are not ours, or not of this build.
func TestReadPlanRefuses(t *testing.T) {
	dir, _ := classPhotos(t, 1, 5)
	folder := t.TempDir()
	name := filepath.Join(folder, "plan.json")
	_, err := WritePlan(t.Context(), store.Local, name, &Plan{Shards: 2, Image: ImageOptions{Resize: 5}}, PlanInput{Kind: InputClasses, Name: dir}, PlanWrite{})
	require.NoError(t, err)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	p := readPlan(t, name)
	for want, change := range map[string][2]string{
		"version 2: this build reads version 1": {`plan": 1`, `plan": 2`},
		`no "infer_prep_plan"`:                  {`infer_prep_plan`, `other`},
		"unknown field":                         {`"root"`, `"extra": 1, "root"`},
		`output "tar"`:                          {`"recordio"`, `"tar"`},
		`encoder "turbo 9": no such encoder in this program: want one of turbo, again v1, which write other bytes`: {`"turbo"`, `"turbo 9"`},
		`chroma "421"`:               {`"420"`, `"421"`},
		"quality 0":                  {`"quality": 95`, `"quality": -1`},
		"count 0":                    {`"count": 5`, `"count": 0`},
		"shards 6":                   {`"shards": 2`, `"shards": 6`},
		"listing of another plan":    {`"count": 5`, `"count": 6`},
		`listing "../plan.list"`:     {`"plan.list"`, `"../plan.list"`},
		"want 64 hexadecimal digits": {`"sha256": "`, `"sha256": "x`},
		`samples "x"`:                {`"samples": "images"`, `"samples": "x"`},
		"invalid character":          {`{`, `[`},
	} {
		require.Contains(t, string(text), change[0])
		other := filepath.Join(folder, "other.json")
		require.NoError(t, os.WriteFile(other, bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1), 0o666))
		_, err := ReadPlan(t.Context(), store.Local, other, PlanRead{})
		if want == "quality 0" {
			want = "quality -1"
		}
		require.ErrorIs(t, err, ErrPlan, want)
		require.ErrorContains(t, err, want)
	}
	// Another layout of the same plan is the same plan.
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, text))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "compact.json"), compact.Bytes(), 0o666))
	require.Equal(t, p.Digest, readPlan(t, filepath.Join(folder, "compact.json")).Digest)
	// The input at another place, and no input.
	moved := t.TempDir()
	require.NoError(t, os.Rename(dir, filepath.Join(moved, "in")))
	_, err = ReadPlan(t.Context(), store.Local, name, PlanRead{})
	require.ErrorContains(t, err, "the input's folder")
	q, err := ReadPlan(t.Context(), store.Local, name, PlanRead{Root: filepath.Join(moved, "in")})
	require.NoError(t, err)
	defer q.Close()
	require.Equal(t, p.Digest, q.Digest)
	r, err := (&PlanPart{Plan: q, Out: t.TempDir()}).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(5), r.Records)
	require.NoError(t, os.Remove(filepath.Join(folder, "plan.list")))
	_, err = ReadPlan(t.Context(), store.Local, name, PlanRead{})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// entriesOf reads all entries of a plan.
func entriesOf(ctx context.Context, p *Plan) (l []Entry, err error) {
	for s := range p.Shards {
		for e, err := range p.Entries(ctx, s) {
			if err != nil {
				return l, err
			}
			l = append(l, e)
		}
	}
	return l, nil
}

// TestListingDamage: every truncation and every changed bit of a listing is an
// ErrPlan.
func TestListingDamage(t *testing.T) {
	dir, _ := classPhotos(t, 1, 6)
	folder := t.TempDir()
	name := filepath.Join(folder, "plan.json")
	_, err := WritePlan(t.Context(), store.Local, name, &Plan{Shards: 3, Seed: new(uint64(5))}, PlanInput{Kind: InputClasses, Name: dir}, PlanWrite{})
	require.NoError(t, err)
	list := filepath.Join(folder, "plan.list")
	b, err := os.ReadFile(list)
	require.NoError(t, err)
	want, err := entriesOf(t.Context(), readPlan(t, name))
	require.NoError(t, err)
	require.Len(t, want, 6)
	try := func(b []byte) error {
		require.NoError(t, os.WriteFile(list, b, 0o666))
		p, err := ReadPlan(t.Context(), store.Local, name, PlanRead{})
		if err != nil {
			return err
		}
		_, err = entriesOf(t.Context(), p)
		return errors.Join(err, p.Close())
	}
	step := short.Step(t, 7)
	for n := 0; n < len(b); n += step {
		require.ErrorIs(t, try(b[:n]), ErrPlan, n)
	}
	for at := 0; at < len(b); at += step {
		for bit := range 8 {
			c := bytes.Clone(b)
			c[at] ^= 1 << bit
			require.ErrorIs(t, try(c), ErrPlan, "byte %d bit %d", at, bit)
		}
	}
	require.NoError(t, try(b))
}

// TestListingChunks: a listing of many chunks, also of entries of all sizes,
// gives the entries back.
func TestListingChunks(t *testing.T) {
	const count = 5000
	for _, seed := range []*uint64{nil, new(uint64(3))} {
		p := &Plan{Count: count, Shards: 7, Seed: seed, digest: strings.Repeat("00", 32)}
		name := filepath.Join(t.TempDir(), "x.list")
		w, err := newListWriter(t.Context(), store.Local, name, p)
		require.NoError(t, err)
		w.limit = 1000
		order := p.order()
		want := make([]Entry, count)
		for i := range int64(count) {
			e := Entry{Number: uint64(i), Files: []EntryFile{{fmt.Sprintf("some/path/%d.jpg", i), i, -i, 0}}}
			switch i % 500 {
			case 1:
				e.Labels = []float32{1, -0.5, float32(math.Inf(1))}
			case 2:
				e.Files[0].Size = -1
			case 3:
				e.Files = append(e.Files, EntryFile{strings.Repeat("x", 3000), 1 << 60, math.MaxInt64, 0})
			case 4:
				e.Number = math.MaxUint64
			}
			require.NoError(t, w.add(order(i), appendEntry(nil, &e, false)))
			e.Position = order(i)
			e.Shard = p.shardOf(e.Position)
			want[e.Position] = e
		}
		require.NoError(t, w.finish(make([]byte, 32)))
		p.list, err = openListing(t.Context(), store.Local, name, p)
		require.NoError(t, err)
		require.Greater(t, p.list.firsts[p.Shards], int64(50))
		got, err := entriesOf(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.NoError(t, p.list.close())
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(`{"infer_prep_plan":1,"output":"recordio","name":"data","root":"/in","samples":"images","count":5,"shards":2,"listing":{"file":"plan.list","sha256":"` + strings.Repeat("0a", 32) + `"},"image":{"encoding":"jpeg","encoder":"turbo","quality":95,"chroma":"420","color":"rgb"},"limits":{"pixels":1,"bytes":2,"scans":3}}`))
	f.Add([]byte(`{"infer_prep_plan":1,"output":"webdataset","name":"a","samples":"files","count":1,"shards":1,"seed":0,"listing":{"file":"l","sha256":"` + strings.Repeat("00", 32) + `"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePlan("x", b)
		if err != nil {
			return
		}
		again, err := p.marshal()
		require.NoError(t, err)
		q, err := parsePlan("x", again)
		require.NoError(t, err)
		require.Equal(t, p.Digest, q.Digest)
		for s := range min(p.Shards, 5) {
			a, e := p.Range(s)
			require.True(t, 0 <= a && a < e && e <= p.Count)
		}
	})
}

func FuzzPlanEntry(f *testing.F) {
	f.Add(append([]byte{3}, appendEntry(nil, &Entry{Number: 7, Labels: []float32{1}, Files: []EntryFile{{"a.jpg", 5, 6, 0}}}, false)...))
	f.Add(append([]byte{3}, appendEntry(nil, &Entry{Number: 7, Files: []EntryFile{{"a.jpg", 5, 6, 1 << 63}}}, true)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, versions := range []bool{false, true} {
			e, n, err := parseEntry(b, 0, versions)
			if err != nil {
				continue
			}
			require.LessOrEqual(t, n, len(b))
			again := append(binary.AppendUvarint(nil, uint64(e.Position)), appendEntry(nil, &e, versions)...)
			f, _, err := parseEntry(again, 0, versions)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(e), fmt.Sprint(f)) // labels can be NaN
			sent, err := e.MarshalBinary()
			require.NoError(t, err)
			require.NoError(t, f.UnmarshalBinary(sent))
			require.Equal(t, fmt.Sprint(e), fmt.Sprint(f))
		}
	})
}

// FuzzListing: no listing makes its reader panic or allocate without bounds.
func FuzzListing(f *testing.F) {
	p := &Plan{Count: 6, Shards: 3, Seed: new(uint64(1)), digest: strings.Repeat("00", 32)}
	name := filepath.Join(f.TempDir(), "x.list")
	w, err := newListWriter(f.Context(), store.Local, name, p)
	require.NoError(f, err)
	order := p.order()
	for i := range int64(6) {
		require.NoError(f, w.add(order(i), appendEntry(nil, &Entry{Files: []EntryFile{{"a.jpg", i, i, 0}}}, false)))
	}
	require.NoError(f, w.finish(make([]byte, 32)))
	b, err := os.ReadFile(name)
	require.NoError(f, err)
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		// Correct the checksums of the end, so that the rest is reached.
		if n := len(b); n >= listFooter+3*listShard {
			b = bytes.Clone(b)
			fixListing(b, 3)
		}
		name := filepath.Join(t.TempDir(), "x.list")
		require.NoError(t, os.WriteFile(name, b, 0o666))
		l, err := openListing(t.Context(), store.Local, name, p)
		if err != nil {
			require.ErrorIs(t, err, ErrPlan)
			return
		}
		defer l.close()
		q := &Plan{Count: p.Count, Shards: p.Shards, list: l}
		if all, err := entriesOf(t.Context(), q); err != nil {
			require.ErrorIs(t, err, ErrPlan)
		} else {
			require.Len(t, all, 6)
		}
	})
}

func FuzzPlanSummary(f *testing.F) {
	p := &Plan{Count: 6, Shards: 3, Name: "data", Digest: "d"}
	f.Add([]byte(`{"infer_prep_shard":1,"plan":"d","shard":1,"entries":2,"records":1,"files":[{"name":"data-00001.rec","size":1,"crc32c":"00000000"},{"name":"data-00001.idx","size":1,"crc32c":"00000000"}],"bad":[{"position":1,"path":"p","kind":"k","why":"w"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := p.parseSummary(b, 1); err == nil {
			require.Equal(t, int64(2), s.Records+int64(len(s.Bad)))
		}
	})
}

// fixListing writes correct checksums of the directory and the footer.
func fixListing(b []byte, shards int) {
	footer := b[len(b)-listFooter:]
	directory := b[len(b)-listFooter-shards*listShard:][:shards*listShard]
	binary.LittleEndian.PutUint32(footer[56:], crc32.Checksum(directory, castagnoli))
	binary.LittleEndian.PutUint32(footer[60:], crc32.Checksum(footer[:60], castagnoli))
}
