package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
)

// ListOptions selects the files of a folder and divides them among lists. The
// zero value of a field is im2rec's default unless its comment says otherwise.
type ListOptions struct {
	// Exts lists the extensions to take, in any case. Default: .jpeg, .jpg,
	// .png.
	Exts []string
	// Recursive walks folders below the root. Every folder with files becomes a
	// label: 0, 1, … in the order of the walk. Default: all labels are 0.
	Recursive bool
	// NoShuffle keeps the order of the walk.
	NoShuffle bool
	// Seed seeds the shuffle as Python's random.seed does. The default is 0;
	// im2rec's is 100.
	Seed uint64
	// Chunks is the number of parts of the files. Default: 1.
	Chunks int
	// TrainRatio and TestRatio divide every chunk: first the test list, then
	// the training list, then the validation list. With TrainRatio 1 there is
	// one list with an empty suffix. The default, 0, makes an empty training
	// list.
	TrainRatio, TestRatio float64
	// OnOther, if not nil, is called with each file that is on no list, since
	// it has another extension or is a device, and without Recursive with each
	// folder.
	OnOther func(name string, folder bool)
}

// List is a list of images with the suffix of its name: "", "_train", "_0_val",
// ….
type List struct {
	Suffix string
	Items  []imagerecord.Item
}

// Lists finds the images below root and divides them as im2rec does. If
// o.Recursive is set, labels holds the folders in the order of their labels,
// relative to root and with slashes. left is the number of images on no list:
// the sizes of a chunk's training and test lists are rounded down.
//
// The files of a folder come before its subfolders, both sorted by the bytes of
// their names. Links are followed, except to a folder above the link; links to
// folders out of root are an error that wraps store.ErrOutside. Files whose
// names begin with a dot are taken, as im2rec does. A name that a list cannot
// hold is an error: invalid UTF-8, a tab, line feed or carriage return, or
// surrounding white space.
//
// Reference: MXNet 1.9.1, tools/im2rec.py.
func Lists(ctx context.Context, files store.Opener, root string, o ListOptions) (lists []List, labels []string, left int, err error) {
	if o.Chunks < 0 || !(o.TrainRatio >= 0 && o.TestRatio >= 0 && o.TrainRatio+o.TestRatio <= 1+1e-9) {
		return nil, nil, 0, fmt.Errorf("pack: %d chunks, ratios %v and %v: want at least 1 chunk, and ratios from 0 to 1 with a sum of at most 1", o.Chunks, o.TrainRatio, o.TestRatio)
	}
	folder, err := store.OpenFolder(ctx, files, root)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("pack: %w", err)
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	w := walk{ctx: ctx, o: o, root: root, files: folder}
	if o.Exts == nil {
		o.Exts = []string{".jpeg", ".jpg", ".png"}
	}
	w.exts = map[string]bool{}
	for _, e := range o.Exts {
		w.exts[strings.ToLower(e)] = true
	}
	if err := w.folder("", nil); err != nil {
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
	ctx    context.Context // ends the walk
	files  store.Folder
	o      ListOptions
	exts   map[string]bool
	root   string
	items  []imagerecord.Item
	labels []string
}

// folder adds the files in and below folder rel. above holds the folders on the
// way to it.
func (w *walk) folder(rel string, above []string) error {
	if w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	dir := store.Join(w.root, rel)
	above = append(slices.Clip(above), dir)
	entries, err := w.files.ListNames(w.ctx, dir) // sorted by name
	if err != nil {
		return err
	}
	label := -1
	var folders []store.Entry
	for _, e := range entries {
		switch {
		case e.Folder:
			folders = append(folders, e)
		case !e.Irregular && w.exts[strings.ToLower(extension(e.Base))]:
			path := join(rel, e.Base)
			if !utf8.ValidString(path) || strings.ContainsAny(path, "\t\n\r") || strings.TrimSpace(path) != path {
				return fmt.Errorf("%q: a list cannot hold this name: want UTF-8 without tabs, line ends and surrounding white space", e.Name)
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
		case w.o.OnOther != nil:
			w.o.OnOther(e.Name, false)
		}
	}
	if !w.o.Recursive {
		for _, e := range folders {
			if w.o.OnOther != nil {
				w.o.OnOther(e.Name, true)
			}
		}
		return nil
	}
	for _, e := range folders {
		up, err := linksToAncestor(w.ctx, w.files, e, above)
		if err != nil {
			return err
		}
		if up {
			continue
		}
		if err := w.folder(join(rel, e.Base), above); err != nil {
			return err
		}
	}
	return nil
}

// linksToAncestor reports whether an entry is a link to a folder on the way to
// it.
func linksToAncestor(ctx context.Context, files store.Folder, e store.Entry, above []string) (bool, error) {
	if !e.Link {
		return false, nil
	}
	for _, a := range above {
		if same, err := files.SameFile(ctx, a, e.Name); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

func join(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}

// extension returns the extension as Python's os.path.splitext does: leading
// dots of a name start none.
func extension(name string) string {
	return filepath.Ext(strings.TrimLeft(name, "."))
}

// pyRandom is MT19937 as Python's random module seeds it with random.seed(n)
// for an integer n. Reference: CPython 3.11, random.py and _randommodule.c.
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

// below returns random._randbelow_with_getrandbits(n), for n from 1 to 2^32-1.
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

// shuffle performs random.shuffle on n elements.
func (r *pyRandom) shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(r.below(uint32(i+1))))
	}
}
