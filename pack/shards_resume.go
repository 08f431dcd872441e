package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
)

// journalFile returns the path of the journal.
func (p *shardPack) journalFile() string { return filepath.Join(p.dir, p.o.Name+".pack") }

// begin opens the journal. A new pack also removes what it replaces.
func (p *shardPack) begin() ([]shardState, error) {
	if i, err := p.open.Stat(p.ctx, p.dir); err == nil && !i.Folder {
		return nil, fmt.Errorf("pack: %s: a file: want a folder", p.dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("pack: %w", err)
	}
	if err := os.MkdirAll(p.dir, 0o777); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	if p.o.Restart {
		if err := emptyJournal(p.journalFile()); err != nil {
			return nil, err
		}
	}
	digest, err := p.digest()
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(p.journalFile())
	switch {
	case err == nil: // existing shards are the unfinished pack's
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("pack: %w", err)
	case !p.o.Force:
		found, err := p.existing(false)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return nil, fmt.Errorf("pack: %s: %w", found[0], ErrExists)
		}
	}
	j, states, err := openJournal[shardState](p.journalFile(), digest)
	if err != nil {
		return nil, err
	}
	p.j = j
	// Remove the unfinished files of a killed run and, for a new pack, what it
	// replaces.
	old, err := p.existing(true)
	if err != nil {
		return nil, err
	}
	if len(states) == 0 {
		more, err := p.existing(false)
		if err != nil {
			return nil, err
		}
		old = append(old, more...)
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return nil, fmt.Errorf("pack: %w", err)
		}
	}
	if len(states) == 0 {
		if err := p.j.note(shardState{Section: -1}, true); err != nil {
			return nil, fmt.Errorf("pack: %w", err)
		}
		return nil, nil
	}
	return states[1:], nil
}

// existing lists the shards with this pack's name and their indexes in the
// folders of the pack. If temporary is set, it lists unfinished ones instead.
func (p *shardPack) existing(temporary bool) ([]string, error) {
	parts := []string{""}
	if p.o.Train > 0 && p.o.Train < 1 {
		parts = []string{trainPart, testPart, valPart}
	}
	folders := []string{""} // the folder of classesFile
	for _, part := range parts {
		folders = append(folders, part)
		for _, g := range p.o.Groups {
			folders = append(folders, filepath.Join(part, g.String()))
		}
	}
	slices.Sort(folders)
	var l []string
	for _, folder := range slices.Compact(folders) {
		entries, err := os.ReadDir(filepath.Join(p.dir, folder)) // sorted
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("pack: %w", err)
		}
		for _, e := range entries {
			name := e.Name()
			if temporary {
				rest, ok := strings.CutPrefix(name, ".")
				i := strings.LastIndex(rest, ".tmp")
				if !ok || i < 0 {
					continue
				}
				name = rest[:i]
			}
			if !e.IsDir() && (p.isShardFile(name) || folder == "" && name == classesFile && p.s.ClassNames != nil) {
				l = append(l, filepath.Join(p.dir, folder, e.Name()))
			}
		}
	}
	return l, nil
}

// isShardFile reports whether a file has the name of a shard or of an index.
func (p *shardPack) isShardFile(name string) bool {
	name = strings.TrimSuffix(name, webdataset.IndexName(""))
	var text [2]string // before and after the number
	k := 0
	for i := 0; i < len(p.o.Name); i++ {
		if p.o.Name[i] == '%' {
			if i++; p.o.Name[i] != '%' { // the number's verb
				i += strings.IndexByte(p.o.Name[i:], 'd')
				k = 1
				continue
			}
		}
		text[k] += p.o.Name[i : i+1]
	}
	number, ok := strings.CutPrefix(name, text[0])
	number, ok2 := strings.CutSuffix(number, text[1])
	return ok && ok2 && number != "" && strings.Trim(number, "0123456789") == ""
}

// resume compares the existing shards with the journal and returns the next
// item.
func (p *shardPack) resume(states []shardState) (next int, err error) {
	for _, st := range states {
		if st.Section < p.at || st.Section >= len(p.sections) || st.Section == p.at && st.Next <= next || st.Next > len(p.sections[st.Section].items) {
			return 0, fmt.Errorf("pack: %s: %w: shard %s does not fit this pack", p.journalFile(), ErrOther, st.Name)
		}
		if st.Section > p.at {
			p.done += len(p.sections[p.at].items) - next // skipped ones
			for _, s := range p.sections[p.at+1 : st.Section] {
				p.done += len(s.items)
			}
			p.at, p.number, next = st.Section, 0, 0
		}
		p.done += st.Next - next
		next, p.bads = st.Next, st.Bad
		p.number++
	}
	p.report.Resumed = len(states)
	p.report.Skipped += p.bads
	err = ordered.Run(p.ctx, ordered.Options{To: len(states), Workers: p.o.Workers}, func(ctx context.Context, _, k int) (fileState, error) {
		return sumFile(ctx, filepath.Join(p.dir, states[k].Name))
	}, func(k int, got fileState, err error) error {
		s := states[k].Shard
		s.Name = filepath.Join(p.dir, s.Name)
		if err == nil && p.o.Index {
			_, err = os.Stat(webdataset.IndexName(s.Name))
		}
		if err != nil && p.ctx.Err() == nil {
			return fmt.Errorf("pack: %s: %w: %w", s.Name, ErrChanged, reason(err))
		}
		if err == nil && got != (fileState{s.Size, s.CRC}) {
			return fmt.Errorf("pack: %s: %w: %d bytes with CRC-32C %08x: want %d with %08x", s.Name, ErrChanged, got.Size, got.CRC, s.Size, s.CRC)
		}
		p.report.Shards = append(p.report.Shards, s)
		p.report.Samples += s.Samples
		return err
	})
	if len(states) > 0 && err == nil {
		p.o.Progress(p.done, p.steps)
	}
	return next, err
}

// sumFile returns size and checksum of a file.
func sumFile(ctx context.Context, name string) (s fileState, err error) {
	f, err := os.Open(name)
	if err != nil {
		return s, err
	}
	defer f.Close()
	b := make([]byte, 1<<20)
	for {
		n, err := f.Read(b)
		s.add(b[:n])
		if err == nil {
			err = ctx.Err()
		}
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return s, err
		}
	}
}

// shardOpener computes the checksum of each shard as it is written, and hides
// modification times.
type shardOpener struct {
	store.Opener
	name      string // name of the last shard, without its folder
	fileState        // its size and checksum
}

func (o *shardOpener) Stat(ctx context.Context, name string) (store.Info, error) {
	i, err := o.Opener.Stat(ctx, name)
	i.Modified = time.Time{}
	return i, err
}

func (o *shardOpener) Create(ctx context.Context, name string) (store.NewFile, error) {
	f, err := o.Opener.Create(ctx, name)
	if err != nil || strings.HasSuffix(name, webdataset.IndexName("")) {
		return f, err
	}
	o.name, o.fileState = filepath.Base(name), fileState{}
	return &shardFile{f, o}, nil
}

type shardFile struct {
	store.NewFile
	o *shardOpener
}

func (f *shardFile) Write(b []byte) (int, error) {
	n, err := f.NewFile.Write(b)
	f.o.add(b[:n])
	return n, err
}
