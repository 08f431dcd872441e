package pack

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/recordio/imagerecord"
)

// ListOptions say which files of a folder become items of a list, and how they are divided among
// lists. The zero value of a field is im2rec's default, but for those that say otherwise.
type ListOptions struct {
	// Exts are the endings of the files that are taken, in upper or lower case. Default: .jpeg, .jpg, .png.
	Exts []string
	// Recursive says that folders below the root are walked too, and that every folder
	// with files in it is a label of its own: 0, 1, … in the order of the walk. Else all labels are 0.
	Recursive bool
	// NoShuffle keeps the order of the walk.
	NoShuffle bool
	// Seed is that of the shuffle: Python's random.seed(Seed) and random.shuffle. im2rec's is 100.
	Seed uint64
	// Chunks is the number of parts that the files are divided into. Default: 1.
	Chunks int
	// TrainRatio and TestRatio are parts of every chunk: first the test list, then the
	// training list, what is left is the validation list. TrainRatio 1 is one list, without a name;
	// the zero value is no default.
	TrainRatio, TestRatio float64
}

// List is a list of images, and what its name has behind the prefix: "", "_train", "_0_val", ….
type List struct {
	Suffix string
	Items  []imagerecord.Item
}

// Lists finds the images below root and divides them as im2rec does. labels are the folders, relative to
// root and with slashes, in the order of their labels, if o.Recursive. left counts images that are on no list, since
// the sizes of a chunk's training and test lists are rounded down.
//
// A folder's files come before the folders in it, both in the order of their names' bytes.
// Links are followed, but not to a folder that holds the link. Files whose names begin
// with a dot are taken, as by im2rec. A name that a list cannot hold (not UTF-8, or with
// a tab, line feed or carriage return in it, or white space at an end) is an error.
//
// Reference: MXNet 1.9.1, tools/im2rec.py.
func Lists(root string, o ListOptions) (lists []List, labels []string, left int, err error) {
	if o.Chunks < 0 || !(o.TrainRatio >= 0 && o.TestRatio >= 0 && o.TrainRatio+o.TestRatio <= 1+1e-9) {
		return nil, nil, 0, fmt.Errorf("pack: %d chunks, ratios %v and %v, want 1 or more, and ratios of 0 to 1 together", o.Chunks, o.TrainRatio, o.TestRatio)
	}
	w := walk{o: o, root: root}
	if o.Exts == nil {
		o.Exts = []string{".jpeg", ".jpg", ".png"}
	}
	w.exts = map[string]bool{}
	for _, e := range o.Exts {
		w.exts[strings.ToLower(e)] = true
	}
	info, err := os.Stat(root)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "read", Path: root, Err: fmt.Errorf("not a folder")}
	}
	if err == nil {
		err = w.folder("", []fs.FileInfo{info})
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("pack: %w", err)
	}
	items := w.items
	if !o.NoShuffle {
		newPyRandom(o.Seed).shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	chunks := cmp.Or(o.Chunks, 1)
	size := (len(items) + chunks - 1) / chunks
	train, test := int(float64(size)*o.TrainRatio), int(float64(size)*o.TestRatio)
	for i := range chunks {
		chunk := items[min(i*size, len(items)):min((i+1)*size, len(items))]
		suffix := ""
		if chunks > 1 {
			suffix = fmt.Sprintf("_%d", i)
		}
		if o.TrainRatio == 1 {
			lists = append(lists, List{suffix, chunk})
			continue
		}
		a := min(test, len(chunk))
		b := min(test+train, len(chunk))
		if o.TestRatio > 0 {
			lists = append(lists, List{suffix + "_test", chunk[:a]})
		}
		if o.TrainRatio+o.TestRatio < 1 {
			lists = append(lists, List{suffix + "_val", chunk[b:]})
		} else {
			left += len(chunk) - b
		}
		lists = append(lists, List{suffix + "_train", chunk[a:b]})
	}
	return lists, w.labels, left, nil
}

type walk struct {
	o      ListOptions
	exts   map[string]bool
	root   string
	items  []imagerecord.Item
	labels []string
}

// folder adds what is in the folder rel. above are the folders that it is in, and itself.
func (w *walk) folder(rel string, above []fs.FileInfo) error {
	dir := filepath.Join(w.root, filepath.FromSlash(rel))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	// ReadDir sorts by name.
	label := -1
	var folders []string
	for _, e := range entries {
		name, is := e.Name(), e.Type()
		if is&fs.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				continue // a link to nowhere is no file
			}
			is = info.Mode().Type()
		}
		switch {
		case is.IsDir():
			folders = append(folders, name)
		case is.IsRegular() && w.exts[strings.ToLower(extension(name))]:
			path := join(rel, name)
			if !utf8.ValidString(path) || strings.ContainsAny(path, "\t\n\r") || strings.TrimSpace(path) != path {
				return fmt.Errorf("%q: a list cannot hold this name: want UTF-8 without tabs, line ends, and white space at its ends", filepath.Join(dir, name))
			}
			if label < 0 {
				label = len(w.labels)
				w.labels = append(w.labels, cmp.Or(rel, "."))
			}
			i := imagerecord.Item{Index: uint64(len(w.items)), Labels: []float32{0}, Path: path}
			if w.o.Recursive {
				i.Labels[0] = float32(label)
			}
			w.items = append(w.items, i)
		}
	}
	if !w.o.Recursive {
		return nil
	}
	for _, name := range folders {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if slices.ContainsFunc(above, func(i fs.FileInfo) bool { return os.SameFile(i, info) }) {
			continue
		}
		if err := w.folder(join(rel, name), append(slices.Clip(above), info)); err != nil {
			return err
		}
	}
	return nil
}

func join(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}

// extension is Python's os.path.splitext: a name that begins with dots has none there.
func extension(name string) string {
	return filepath.Ext(strings.TrimLeft(name, "."))
}

// pyRandom is the generator of Python's random module, MT19937, as random.seed(n) of a whole
// number starts it. Reference: CPython 3.11, random.py and _randommodule.c.
type pyRandom struct {
	state [624]uint32
	at    int
}

func newPyRandom(seed uint64) *pyRandom {
	r := &pyRandom{at: 624}
	s := &r.state
	s[0] = 19650218
	for i := 1; i < 624; i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	key := []uint32{uint32(seed)}
	if seed>>32 != 0 {
		key = append(key, uint32(seed>>32))
	}
	i, j := 1, 0
	next := func() {
		if i++; i == 624 {
			s[0], i = s[623], 1
		}
	}
	for range 624 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[j] + uint32(j)
		next()
		j = (j + 1) % len(key)
	}
	for range 623 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		next()
	}
	s[0] = 1 << 31
	return r
}

func (r *pyRandom) uint32() uint32 {
	if s := &r.state; r.at == 624 {
		for i := range s {
			y := s[i]&(1<<31) | s[(i+1)%624]&(1<<31-1)
			s[i] = s[(i+397)%624] ^ y>>1 ^ y&1*0x9908b0df
		}
		r.at = 0
	}
	y := r.state[r.at]
	r.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// below is random._randbelow_with_getrandbits(n), n from 1 to 2^32-1.
func (r *pyRandom) below(n uint32) uint32 {
	bits := 32
	for n>>(bits-1) == 0 {
		bits--
	}
	for {
		if v := r.uint32() >> (32 - bits); v < n {
			return v
		}
	}
}

// shuffle is random.shuffle of n things.
func (r *pyRandom) shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(r.below(uint32(i+1))))
	}
}
