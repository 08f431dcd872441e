package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/tileindex"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/tiff"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/internal/tilegrid"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/store"
)

// tileFlags are the flags of --tiles.
type tileFlags struct {
	size, overlap int
	edge          string
}

func (f *tileFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.IntVar(&f.size, "tiles", 0, "each argument is a TIFF scene: run the graph on its windows of `N` x N pixels, and write an index of them")
	fl.IntVar(&f.overlap, "overlap", 0, "neighbours of --tiles share `N` pixels")
	fl.StringVar(&f.edge, "edge", tilegrid.Shift.String(), "at the right and bottom edges of a scene move the last windows of --tiles back (shift), fill them with the no-data value or 0 (pad), or leave them out (drop); `HOW` is one of these")
	command.Complete(cmd, "edge", tilegrid.Pad.String(), tilegrid.Shift.String(), tilegrid.Drop.String())
}

// grid returns the grid of a scene of w x h pixels.
func (f *tileFlags) grid(w, h int) (g tilegrid.Grid, err error) {
	g = tilegrid.Grid{Width: w, Height: h, Size: f.size, Overlap: f.overlap}
	if err = g.Edge.UnmarshalText([]byte(f.edge)); err == nil {
		err = g.Validate()
	}
	return g, err
}

// check checks the flags.
func (f *tileFlags) check(cmd *cobra.Command, r *runFlags) error {
	if !cmd.Flags().Changed("tiles") {
		if n := command.FirstChanged(cmd, "overlap", "edge"); n != "" {
			return command.UsageErr("--%s applies to windows: want --tiles", n)
		}
		return nil
	}
	if _, err := f.grid(1, 1); err != nil {
		return command.UsageErr("--tiles %d --overlap %d --edge %s: %w", f.size, f.overlap, f.edge, err)
	}
	n := command.FirstChanged(cmd, "lines", "video", "batch-size", "last-batch", "samples-per-file", "bytes-per-file", "force", "keep-path", "report", "strict")
	switch x := r.format; {
	case n != "":
		return command.UsageErr("--%s does not apply to --tiles, which writes files of one window", n)
	case r.out == "" || r.out == pipe.Stdin:
		return command.UsageErr("--tiles writes several files: want -o DIR, a folder")
	case r.existing == string(job.ByContent):
		return command.UsageErr("--skip-existing=%s does not apply to --tiles: want --skip-existing, by name", r.existing)
	case x.Shards || x.Numbered || x.Folder || x.List != "":
		return command.UsageErr("--format %s does not apply to --tiles: want a format with files of one image", x.Name)
	}
	return nil
}

// tileRun makes an input of each window of the scenes. A window is read by the
// worker that takes it, as a TIFF of its own.
type tileRun struct {
	store.Opener // of the scenes
	flags        *runFlags
	app          *command.App
	files        []job.File
	outputs      []string
	cache        *tiff.Cache

	mu     sync.Mutex
	scenes []*tiledScene // in order
	byPath map[string]*tiledScene
	seen   map[string]string // the scene of each name
	made   int               // inputs
	before int               // windows that had their outputs
}

// tiledScene is a scene in progress.
type tiledScene struct {
	path, name string
	file       store.File
	image      *tiff.Image
	geo        tiff.Geo
	grid       tilegrid.Grid

	// Guarded by tileRun.mu.
	pending int          // inputs without a result
	ended   bool         // all inputs were made
	failed  map[int]bool // windows without outputs
}

// tileCache bounds the strips and tiles that are kept for further windows, in
// bytes.
const tileCache = 64 << 20

// runTiles runs the job over the windows of the scenes.
func runTiles(ctx context.Context, a *command.App, f *runFlags, j *job.Job) error {
	outputs, err := j.Outputs()
	if err != nil {
		return jobErr(err)
	}
	inputs := j.Inputs
	l := job.Find(ctx, j.Files, inputs, f.out)
	defer l.Close()
	t := &tileRun{Opener: j.Files, flags: f, app: a, outputs: outputs, byPath: map[string]*tiledScene{}, seen: map[string]string{}}
	for _, in := range l.Files {
		if ext := strings.ToLower(filepath.Ext(in.Name)); in.Explicit || in.Err != nil || ext == ".tif" || ext == ".tiff" {
			t.files = append(t.files, in)
		}
	}
	if len(t.files) == 0 {
		return command.UsageErr("no scenes: want files, or folders with files of the extension .tif or .tiff")
	}
	if t.cache, err = tiff.NewCache(tileCache); err != nil {
		return err
	}
	defer t.close()
	j.Inputs, j.Files, j.Stream, j.Existing = nil, t, t.inputs, ""
	err = runJob(ctx, a, f, j, t.result)
	if ierr := t.finish(); ierr != nil {
		return command.WrapFail(ierr)
	}
	if t.made == 0 && t.before > 0 && ctx.Err() == nil {
		err = nil
	}
	if t.before > 0 && !f.quiet {
		fmt.Fprintf(a.Stderr, "%s had their outputs\n", command.Plural(t.before, "window"))
	}
	return err
}

// close closes the scenes that are open.
func (t *tileRun) close() {
	for _, s := range t.scenes {
		s.close()
	}
}

func (s *tiledScene) close() {
	if s.file != nil {
		_ = s.file.Close() // it was only read
		s.file, s.image = nil, nil
	}
}

// inputs makes the inputs: a window when it is wanted.
func (t *tileRun) inputs(ctx context.Context) iter.Seq[job.Input] {
	return func(yield func(job.Input) bool) {
		for i := range t.files {
			in := &t.files[i]
			s, err := t.open(ctx, in)
			if err != nil {
				t.count(nil, 1)
				if !yield(job.Input{Path: in.Path, Name: in.Name, Err: err}) {
					return
				}
				continue
			}
			for k := range s.grid.Len() {
				if t.exists(ctx, s, k) {
					continue
				}
				t.count(s, 1)
				if ctx.Err() != nil || !yield(job.Input{Path: s.window(k), Name: s.name + "/" + s.base(k)}) {
					return
				}
			}
			t.mu.Lock()
			s.ended = true
			t.mu.Unlock()
		}
	}
}

// count counts inputs of a scene.
func (t *tileRun) count(s *tiledScene, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made += n
	if s != nil {
		s.pending += n
	}
}

// exists reports whether a window has its outputs and may be skipped.
func (t *tileRun) exists(ctx context.Context, s *tiledScene, k int) bool {
	if t.flags.existing == "" {
		return false
	}
	for _, f := range t.names(s, k) {
		if ok, err := paths.Exists(ctx, paths.Join(t.flags.out, s.name+"/"+f)); err != nil || !ok {
			return false
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before++
	return true
}

// open opens a scene.
func (t *tileRun) open(ctx context.Context, in *job.File) (_ *tiledScene, err error) {
	if in.Err != nil {
		return nil, in.Err
	}
	s := &tiledScene{path: in.Path, name: in.Name, failed: map[int]bool{}}
	defer func() {
		if err != nil {
			s.close()
			err = fmt.Errorf("%s: %w", in.Path, paths.Reason(err))
		}
	}()
	if other, ok := t.seen[strings.ToLower(s.name)]; ok {
		return nil, fmt.Errorf("its folder %s is that of %s", paths.Shown(paths.Join(t.flags.out, s.name)), other)
	}
	t.seen[strings.ToLower(s.name)] = in.Path
	if s.file, err = in.Open(ctx); err != nil {
		return nil, err
	}
	r, err := tiff.NewReader(s.file, s.file.Size(), &tiff.Options{Limits: t.flags.Limits, Cache: t.cache})
	if err != nil {
		return nil, err
	}
	if s.image, err = r.Image(0); err == io.EOF {
		err = errors.New("the file has no image")
	}
	if err != nil {
		return nil, err
	}
	info, err := s.image.Info()
	if err != nil {
		return nil, err
	}
	if s.geo, err = s.image.Geo(); err != nil {
		return nil, err
	}
	if s.grid, err = t.flags.tiles.grid(info.Width, info.Height); err != nil {
		return nil, err
	}
	if s.grid.Len() == 0 {
		return nil, fmt.Errorf("no window of %d pixels fits the scene of %dx%d", s.grid.Size, info.Width, info.Height)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.scenes = append(t.scenes, s)
	t.byPath[parent(filepath.Clean(s.window(0)))] = s
	t.byPath[parent(s.window(0))] = s
	return s, nil
}

// base returns the name of a window in its scene: row and column in the grid,
// with as many digits as the largest ones.
func (s *tiledScene) base(k int) string {
	columns := s.grid.Columns()
	digits := func(n int) int { return len(fmt.Sprint(n - 1)) }
	return fmt.Sprintf("r%0*d_c%0*d", digits(s.grid.Rows()), k/columns, digits(columns), k%columns)
}

// window returns the path of a window, which no store has.
func (s *tiledScene) window(k int) string { return s.path + "/" + s.base(k) }

// number is the inverse of base.
func (s *tiledScene) number(base string) (int, error) {
	r, c, _ := strings.Cut(strings.TrimPrefix(base, "r"), "_c")
	row, err := strconv.Atoi(r)
	column, cerr := strconv.Atoi(c)
	return row*s.grid.Columns() + column, errors.Join(err, cerr)
}

// parent returns the path of a window's scene.
func parent(path string) string { return path[:strings.LastIndexAny(path, `/\`)] }

// names returns the files of a window, in the folder of its scene: one for each
// output, or one for all.
func (t *tileRun) names(s *tiledScene, k int) []string {
	base, ext := s.base(k), t.flags.format.Ext
	if len(t.outputs) == 1 || slices.Contains([]string{"npz", "safetensors"}, t.flags.format.Name) {
		return []string{base + ext}
	}
	var l []string
	for _, o := range t.outputs {
		l = append(l, base+"."+o+ext)
	}
	return l
}

// Open reads a window.
func (t *tileRun) Open(ctx context.Context, path string) (store.File, error) {
	t.mu.Lock()
	s := t.byPath[parent(path)]
	t.mu.Unlock()
	if s == nil {
		return t.Opener.Open(ctx, path)
	}
	k, err := s.number(path[strings.LastIndexAny(path, `/\`)+1:])
	if err != nil {
		return nil, err
	}
	x, y, _, _ := s.grid.Window(k)
	b, err := s.image.AppendTIFF(nil, codec.Region{Left: x, Top: y, Width: s.grid.Size, Height: s.grid.Size})
	if err != nil {
		return nil, err
	}
	return windowFile{bytes.NewReader(b)}, nil
}

// windowFile is a window as a file.
type windowFile struct{ *bytes.Reader }

func (windowFile) Close() error { return nil }

// result notes the result of a window, and finishes its scene.
func (t *tileRun) result(x job.Result) error {
	at := strings.LastIndexAny(x.Path, `/\`)
	t.mu.Lock()
	if at >= 0 {
		if s := t.byPath[x.Path[:at]]; s != nil {
			if k, err := s.number(x.Path[at+1:]); err == nil {
				s.pending--
				if x.Status != job.Done {
					s.failed[k] = true
				}
			}
		}
	}
	t.mu.Unlock()
	return t.finish()
}

// finish writes the indexes of the scenes whose windows are all done, and
// closes their files.
func (t *tileRun) finish() error {
	for {
		t.mu.Lock()
		var s *tiledScene
		if len(t.scenes) > 0 && t.scenes[0].ended && t.scenes[0].pending == 0 {
			s = t.scenes[0]
			t.scenes = t.scenes[1:]
			delete(t.byPath, s.path)
			delete(t.byPath, parent(filepath.Clean(s.window(0))))
		}
		t.mu.Unlock()
		if s == nil {
			return nil
		}
		s.close()
		if err := t.index(s); err != nil {
			return err
		}
	}
}

// index writes the index of a scene. It leaves out windows that failed.
func (t *tileRun) index(s *tiledScene) error {
	if len(s.failed) == s.grid.Len() {
		return nil
	}
	return newfile.Write(context.Background(), paths.Join(t.flags.out, s.name+"/"+tileindex.Name), func(w io.Writer) error {
		b := bufio.NewWriter(w)
		for k := range s.grid.Len() {
			if s.failed[k] {
				continue
			}
			x, y, width, height := s.grid.Window(k)
			files := t.names(s, k)
			line := tileindex.Window{
				File: files[0], Row: k / s.grid.Columns(), Column: k % s.grid.Columns(), X: x, Y: y, Width: width, Height: height, Size: s.grid.Size,
				Scene: tileindex.Scene{Path: s.path, Width: s.grid.Width, Height: s.grid.Height},
			}
			if len(files) > 1 {
				line.Files = map[string]string{}
				for i, o := range t.outputs {
					line.Files[o] = files[i]
				}
			}
			line.SetGeo(&s.geo)
			if err := tileindex.Write(b, &line); err != nil {
				return err
			}
		}
		return b.Flush()
	})
}
