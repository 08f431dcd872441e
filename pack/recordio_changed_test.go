package pack

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// interrupted interrupts a small pack after 35 of 60 items and returns it with
// the folder of its images. Only the interruption and every fifth item record a
// state.
func interrupted(t *testing.T, change func(*RecordIO)) (p *RecordIO, root string) {
	root, items := photos(t, 60)
	p = small(root, items, t.TempDir())
	change(p)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.Progress = func(done, _ int) {
		if done == 45 {
			cancel()
		}
	}
	_, err := p.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	p.Progress = nil
	return p, root
}

// TestChangedImages changes an image of an interrupted pack. The pack refuses
// to resume, names the image, and leaves its files as they are.
func TestChangedImages(t *testing.T) {
	none := func(*RecordIO) {}
	content := func(p *RecordIO) { p.CompareContent = true }
	// flip changes a bit of a file and keeps its size and modification time.
	flip := func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b[len(b)/2] ^= 1
		return errors.Join(os.WriteFile(path, b, 0o666), os.Chtimes(path, time.Time{}, info.ModTime()))
	}
	touch := func(path string) error {
		return os.Chtimes(path, time.Time{}, time.Unix(1e9, 1))
	}
	grow := func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString("more")
		return errors.Join(err, f.Close(), os.Chtimes(path, time.Time{}, info.ModTime()))
	}
	for name, c := range map[string]struct {
		options func(*RecordIO)
		image   string
		change  func(path string) error
		want    string // empty: the pack resumes
	}{
		"time":                       {none, "3.png", touch, "train.lst: item 4: 3.png"},
		"size":                       {none, "3.png", grow, "train.lst: item 4: 3.png"},
		"removed":                    {none, "7.png", os.Remove, "train.lst: item 8: 7.png"},
		"of the unfinished output":   {none, "41.png", touch, "val.lst: item 2: 41.png"},
		"skipped":                    {none, "10.png", touch, "train.lst: item 11: 10.png"},
		"not packed yet":             {none, "59.png", touch, ""},
		"content":                    {content, "3.png", flip, "train.lst: item 4: 3.png"},
		"content, unfinished output": {content, "41.png", flip, "val.lst: item 2: 41.png"},
		"content, removed":           {content, "7.png", os.Remove, "train.lst: item 8: 7.png"},
		"content, size":              {content, "7.png", grow, "train.lst: item 8: 7.png"},
		"content, skipped":           {content, "10.png", flip, "train.lst: item 11: 10.png"},
		"content, time alone":        {content, "3.png", touch, ""},
		"nothing":                    {none, "3.png", func(string) error { return nil }, ""},
		"content, nothing":           {content, "3.png", func(string) error { return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, root := interrupted(t, c.options)
			dir := filepath.Dir(p.Journal)
			require.NoError(t, c.change(filepath.Join(root, c.image)))
			before := contents(t, dir)
			_, err := p.Run(t.Context())
			if c.want != "" {
				var item *ItemError
				require.ErrorAs(t, err, &item)
				require.Equal(t, c.image, item.Path)
				require.ErrorIs(t, err, ErrChanged)
				require.ErrorContains(t, err, c.want)
				same(t, before, contents(t, dir), "refused")
				_, err = p.Run(t.Context()) // it stays refused
				require.ErrorIs(t, err, ErrChanged)
				p.Restart, p.Force = true, true
				_, err = p.Run(t.Context())
			}
			require.NoError(t, err)
			// The files are those of one run over the images as they are now.
			got := contents(t, dir)
			q := *p
			q.Outputs = append([]RecordIOOutput(nil), p.Outputs...)
			dir = t.TempDir()
			for i := range q.Outputs {
				q.Outputs[i].Name = filepath.Join(dir, filepath.Base(q.Outputs[i].Name))
			}
			q.Journal = filepath.Join(dir, "journal")
			_, err = q.Run(t.Context())
			require.NoError(t, err)
			same(t, contents(t, dir), got, "afterwards")
		})
	}
}

// TestChangedAfterResumes checks that a pack that was interrupted many times,
// and went back to an earlier state, still knows all its images.
func TestChangedAfterResumes(t *testing.T) {
	root, items := photos(t, 60)
	points := countPoints(t, root, items)
	for n, name := range []string{"0.png", "4.png", "5.png", "9.png", "12.png"} {
		p := small(root, items, t.TempDir())
		part := p.Outputs[0].Name + ".rec.part"
		for _, n := range []int{points / 3, points / 7, points / 6, points / 7, points / 7} {
			stopAt(p, n)
			_, err := p.Run(t.Context())
			require.ErrorIs(t, err, errStop)
			info, err := os.Stat(part)
			require.NoError(t, err)
			require.NoError(t, os.Truncate(part, info.Size()*5/6))
		}
		p.test = nil
		require.NoError(t, os.Chtimes(filepath.Join(root, name), time.Time{}, time.Unix(int64(1e9+n), 0)))
		_, err := p.Run(t.Context())
		require.ErrorIs(t, err, ErrChanged, name)
		require.ErrorContains(t, err, ": "+name)
	}
}
