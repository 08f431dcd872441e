package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// outcome is a set of what may become of a sample of a faulty file.
type outcome uint8

const (
	same    outcome = 1 << iota // it is unchanged
	other                       // it is that of the new file
	changed                     // it has other pixels: the format has no checksum there
	bad                         // an error names it, or it is left out and reported
)

// fault is a kind of file fault.
type fault struct {
	name   string
	source string // "images", "RecordIO", "tar" or "cache"
	mapped bool   // the file may be in memory, as store.Local does
	// target names the file or folder of the scene's row.
	target func(*scene) string
	apply  func(path string) error
	// may is what can become of the samples of the target, and must is what at
	// least one of them becomes.
	may, must outcome
	// fatal faults may end the process; store.Local documents it.
	fatal  bool
	expect string // for the report
}

func image(s *scene) string  { return filepath.Join(s.c.photos, filepath.FromSlash(s.keys[s.row])) }
func class(s *scene) string  { return filepath.Dir(image(s)) }
func record(s *scene) string { return filepath.Join(s.c.records, "photos.rec") }
func shard(s *scene) string  { return filepath.Join(s.c.shards, "data-00001.tar") }
func cache(s *scene) string  { return filepath.Join(s.dir, "cache") }

// faultKinds lists the kinds in the order of the report.
var faultKinds = []fault{
	{"image truncated to its half", "images", false, image, halve, bad, bad, false, "the sample is bad"},
	{"image removed", "images", false, image, os.Remove, bad, bad, false, "the sample is bad"},
	{"image emptied", "images", false, image, func(p string) error { return os.Truncate(p, 0) }, bad, bad, false, "the sample is bad"},
	{"image grown by 4 KiB", "images", false, image, grown, same, same, false, "Pillow ignores bytes behind an image: unchanged"},
	{"image overwritten in the middle", "images", false, image, func(p string) error { return overwrite(p, 40, 7) }, bad | changed, bad | changed, false, "the sample is bad, or has other pixels"},
	{"image replaced by another one", "images", false, image, replaced, other, other, false, "the sample of the new image"},
	{"image replaced by a folder", "images", false, image, instead(func(p string) error { return os.Mkdir(p, 0o777) }), bad, bad, false, "the sample is bad"},
	{"image replaced by a named pipe", "images", false, image, instead(namedPipe), bad, bad, false, "the sample is bad; nothing waits for the pipe"},
	{"image replaced by a dangling link", "images", false, image, instead(func(p string) error { return os.Symlink("nowhere", p) }), bad, bad, false, "the sample is bad"},
	{"image replaced by a link to itself", "images", false, image, instead(func(p string) error { return os.Symlink(filepath.Base(p), p) }), bad, bad, false, "the sample is bad"},
	{"folder of a class renamed", "images", false, class, func(p string) error { return os.Rename(p, p+".away") }, bad, bad, false, "all its samples are bad"},
	{"RecordIO file truncated to its half", "RecordIO", false, record, halve, same | bad, bad, false, "the samples behind are bad"},
	{"RecordIO file truncated while mapped", "RecordIO", true, record, halve, same | changed | bad, bad, true, "the process may die (documented)"},
	{"RecordIO file overwritten in the middle", "RecordIO", true, record, func(p string) error { return overwrite(p, 2048, 8) }, same | changed | bad, bad, false, "the samples there are bad, or have other pixels"},
	{"RecordIO file removed", "RecordIO", true, record, os.Remove, same, same, false, "it stays open: unchanged"},
	{"RecordIO file replaced by another one", "RecordIO", true, record, moved, same, same, false, "the old one stays open: unchanged"},
	{"tar shard truncated to its half", "tar", false, shard, halve, same | bad, bad, false, "the samples behind are bad"},
	{"tar shard truncated while mapped", "tar", true, shard, halve, same | changed | bad, bad, true, "the process may die (documented)"},
	{"tar shard overwritten in the middle", "tar", true, shard, func(p string) error { return overwrite(p, 2048, 9) }, same | bad, bad, false, "checksums of the index: the samples there are bad"},
	{"tar shard removed", "tar", true, shard, os.Remove, same, same, false, "it stays open: unchanged"},
	{"cache file overwritten before its samples are used", "cache", true, cache, overwriteCache, same, same, false, "the samples are made again: unchanged"},
	{"cache file removed", "cache", true, cache, os.Remove, same, same, false, "it stays open: unchanged"},
}

func halve(path string) error {
	i, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, i.Size()/2)
}

func grown(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4<<10))
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// replaced renames a copy of a neighbour to the image.
func replaced(path string) error {
	b, err := os.ReadFile(neighbour(path))
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", b, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// neighbour returns the first image of the folder, which no test hits.
func neighbour(path string) string {
	l, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(l) == 0 {
		return path
	}
	return l[0] // sorted
}

// moved renames a file of zeros to the path.
func moved(path string) error {
	i, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", make([]byte, i.Size()), 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// instead returns a function that removes a file and makes something in its
// place.
func instead(f func(string) error) func(string) error {
	return func(path string) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return f(path)
	}
}

// overwriteCache overwrites an eighth of the samples of a cache, behind the
// ones that a run uses first. docs/format/cache.md has the header.
func overwriteCache(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var end [8]byte
	if _, err := f.ReadAt(end[:], 64); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint64(end[:]))
	if n <= 1<<10 {
		return fmt.Errorf("the samples of %s end at %d", path, n)
	}
	return writeNoise(f, n*3/4, int(n/8), 10)
}
