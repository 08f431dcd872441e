package job

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// imageExts are the extensions of images that are not opened to see whether
// they are containers.
var imageExts = []string{".jpg", ".jpeg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".pbm", ".pgm", ".ppm", ".pfm", ".qoi", ".tga", ".ico", ".dib", ".avif", ".heic", ".heif", ".jp2", ".j2k", ".j2c", ".jpf", ".jpx", ".jxl", ".dcm"}

// findContainers finds the files that are containers: tar or record files with
// images in them. Files found below a folder are not opened.
func (l *Listing) findContainers() {
	// URIs are opened ahead, since each takes a request.
	_ = ordered.Run(l.ctx, ordered.Options{To: len(l.Files), Workers: max(1, min(remoteRequests, len(l.Files)))},
		func(ctx context.Context, _, i int) (struct{}, error) {
			if in := &l.Files[i]; in.Err == nil && in.skip == "" && in.folder == nil && !in.pipe {
				in.detect(ctx)
			}
			return struct{}{}, nil
		}, func(int, struct{}, error) error { return nil })
}

func (in *File) detect(ctx context.Context) {
	if slices.Contains(imageExts, strings.ToLower(filepath.Ext(in.base()))) {
		return
	}
	f, err := in.Open(ctx)
	if err != nil {
		return // reading it returns the error
	}
	defer f.Close()
	head := make([]byte, records.HeadSize)
	n, err := f.ReadAt(head, 0)
	if head = head[:n]; err != nil && err != io.EOF || n == 0 || in.starts(head) {
		return
	}
	if x, err := records.DetectHead(in.base(), head); err == nil {
		in.container = &x
	}
}

// unknown reports whether the number of images is not known before they are
// read: it is that of containers and streams.
func unknown(files []File) bool {
	return slices.ContainsFunc(files, func(in File) bool { return in.pipe || in.container != nil })
}

// container makes the images in a container, and an input that fails for
// damage, after which nothing is read. stream is nil for a file.
func (r *run) container(ctx context.Context, in *File, format records.Format, stream io.Reader, yield func(*File) bool) bool {
	c := &container{ctx: ctx, run: r, in: in, yield: yield, taken: digests{}}
	var err error
	if format.Name == "webdataset" { // any tar file
		err = c.members(ctx, stream)
	} else {
		err = c.records(ctx, format, stream)
	}
	if err == errStopped || ctx.Err() != nil {
		return false
	}
	return err == nil || c.put(&File{Path: in.Path, Err: paths.Readable(in.Path, paths.Reason(err))})
}

// container is a container that is being read.
type container struct {
	ctx   context.Context
	run   *run
	in    *File
	yield func(*File) bool
	taken digests // of the outputs so far
}

// digests is a set of names. It holds digests, which take less memory.
type digests map[[16]byte]struct{}

func digestOf(name string) [16]byte {
	h := sha256.Sum256([]byte(name))
	return [16]byte(h[:16])
}

// add adds a name and reports whether it is new.
func (d digests) add(name string) bool {
	taken := d.has(name)
	d[digestOf(name)] = struct{}{}
	return !taken
}

func (d digests) has(name string) bool {
	_, ok := d[digestOf(name)]
	return ok
}

// errStopped ends reading since no more images are wanted.
var errStopped = errors.New("stopped")

func (c *container) put(in *File) bool {
	c.run.number(c.ctx, in)
	return c.yield(in)
}

// skip makes an input that is left out: for a reason, or since it begins with
// head and is no image.
func (c *container) skip(name, why string, head []byte) error {
	if !c.put(&File{Path: c.in.Path + "/" + name, in: c.in.Path, skip: why, held: true, data: head}) {
		return errStopped
	}
	return nil
}

// leave makes an input that is left out though a user could expect an image
// there.
func (c *container) leave(name, why string) error {
	if !c.put(&File{Path: c.in.Path + "/" + name, in: c.in.Path, skip: why, named: true, held: true}) {
		return errStopped
	}
	return nil
}

// fail makes an input that fails.
func (c *container) fail(name string, err error) error {
	in := &File{Path: c.in.Path + "/" + name, in: c.in.Path, held: true}
	if in.Err = paths.Error(in.Path, err); !c.put(in) {
		return errStopped
	}
	return nil
}

// image adds an image of the container to the inputs. name is its name in the
// container, with slashes. read returns its bytes; size is their number.
func (c *container) image(name string, size int64, read func() ([]byte, error)) error {
	in := &File{Path: c.in.Path + "/" + name, in: c.in.Path, held: true, sniff: c.in.sniff}
	clean := path.Clean(name)
	local := filepath.FromSlash(clean)
	in.Name = filepath.Join(c.in.Name, local)
	limit := c.run.limits.Bytes
	switch {
	case path.IsAbs(name) || slices.Contains(strings.Split(name, "/"), "..") || !filepath.IsLocal(local):
		in.Err = fmt.Errorf("%s: the name leads out of the output folder", in.Path)
	case limit > 0 && size > limit:
		in.Err = fmt.Errorf("%s: %w", in.Path, tooLarge(size, limit))
	case !c.claim(in.Name):
		in.Err = fmt.Errorf("%s: its output is already that of an earlier image of the same name in %s", in.Path, c.in.Path)
	default:
		c.run.hold(in, nil, size)
		var err error
		if in.data, err = read(); err != nil {
			in.free()
			return err
		}
	}
	if !c.put(in) {
		return errStopped
	}
	return nil
}

// claim reports whether no earlier image has the same output.
func (c *container) claim(name string) bool {
	files := []string{name}
	if s := c.run.files; s != nil {
		if files = s.files(name); s.fold {
			for i := range files {
				files[i] = strings.ToLower(files[i])
			}
		}
	}
	free := true
	for _, f := range files {
		free = c.taken.add(f) && free
	}
	return free
}

// members makes the images in a tar file, and then those that its links lead
// to. Folders are no inputs, unless their names are those of images.
func (c *container) members(ctx context.Context, stream io.Reader) (err error) {
	var links []*tarLink
	size := 0 // of their names and targets
	read := func(m *webdataset.Members) error {
		return eachMember(ctx, m, func(at int, x webdataset.Member) error {
			switch {
			case x.Kind == webdataset.Folder:
				if !imageName(x.Name) {
					return nil
				}
				return c.leave(x.Name, x.Kind.String())
			case newfile.IsTemp(x.Name):
				return c.skip(x.Name, "a temporary file", nil)
			case x.Kind == webdataset.HardLink || x.Kind == webdataset.Symlink:
				if size += 2*len(x.Name) + len(x.Link); size > maxLinkBytes {
					return fmt.Errorf("%.60q: links with names of more than %d bytes, the limit of an archive", x.Name, maxLinkBytes)
				}
				links = append(links, newTarLink(x, at))
				return nil
			case x.Kind != webdataset.Regular:
				if imageName(x.Name) {
					return c.leave(x.Name, x.Kind.String())
				}
				return c.skip(x.Name, x.Kind.String(), nil)
			}
			head, err := readHead(m, x)
			switch {
			case err != nil:
				return err
			case !c.in.starts(head):
				return c.skip(x.Name, "", head)
			}
			return c.image(x.Name, x.Size, func() ([]byte, error) { return readRest(m, head, x.Size) })
		})
	}
	if stream == nil {
		err = c.again(ctx, read)
	} else {
		m, bad := webdataset.NewMembers(stream, c.in.Path)
		if bad != nil {
			return bad
		}
		defer m.Close()
		err = read(m)
	}
	switch {
	case len(links) == 0 || err == errStopped || ctx.Err() != nil:
		return err
	case err != nil:
		return cmp.Or(c.leaveLinks(links, "the archive was not read to its end"), err)
	case stream != nil:
		return c.leaveLinks(links, "links in a pipe are not followed: want the file")
	}
	return c.links(ctx, links)
}

// readRest reads what follows head of size bytes. Memory grows with the input,
// not with the stated size.
func readRest(r io.Reader, head []byte, size int64) ([]byte, error) {
	const first = 1 << 20
	b := append(make([]byte, 0, min(size, first)), head...)
	for int64(len(b)) < size {
		if len(b) == cap(b) {
			b = slices.Grow(b, int(min(size-int64(len(b)), int64(3*len(b)))))
		}
		n, err := io.ReadFull(r, b[len(b):min(int64(cap(b)), size)])
		if b = b[:len(b)+n]; err != nil {
			return nil, err
		}
	}
	return b, nil
}

// records makes the images in a record file: its fields that hold images. A
// record without one is skipped.
func (c *container) records(ctx context.Context, format records.Format, stream io.Reader) (err error) {
	options := records.ReadOptions{Limit: c.run.limits.Bytes}
	var r records.Reader
	switch {
	case stream == nil && format.Open != nil:
		r, err = format.Open(ctx, c.in.files, []string{c.in.storeName()}, options)
	case stream != nil && format.Stream != nil:
		r, err = format.Stream(stream, c.in.Path, options)
	default:
		err = pipe.NeedsFile(format)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var x records.Record
	for ctx.Err() == nil {
		if err := r.Next(&x); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if format.Name == "mindrecord" && store.Base(x.File) != store.Base(c.in.storeName()) {
			continue // of another file of the set
		}
		images := 0
		for _, f := range x.Fields {
			if f.Value.DType != tensor.Bytes || !c.in.starts(f.Value.Data) {
				continue
			}
			images++
			// The reader reuses the memory of the record.
			read := func() ([]byte, error) { return slices.Clone(f.Value.Data), nil }
			if err := c.image(paths.Safe(x.Key)+"."+paths.Safe(f.Name), int64(len(f.Value.Data)), read); err != nil {
				return err
			}
		}
		if images == 0 {
			if err := c.skip(paths.Safe(x.Key), "no field is an image", nil); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// stream makes the inputs of a stream: an image, or those of a container.
func (r *run) stream(ctx context.Context, in *File, yield func(*File) bool) bool {
	p := pipe.Open(ctx, r.job.stdin(), in.Path)
	defer p.Close()
	b := bufio.NewReaderSize(p, pipe.Buffer)
	head, err := pipe.Head(b)
	if err == nil && !in.starts(head) && len(head) > 0 {
		if format, unknown := records.DetectHead(in.Path, head); unknown == nil {
			return r.container(ctx, in, format, b, yield)
		}
	}
	if err == nil {
		in.held = true
		if in.sniff != nil && in.starts(head) {
			in.data, err = pipe.ReadAll(b, r.limits)
		} else {
			in.data, err = pipe.ReadImage(b, head, r.limits)
		}
	}
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		in.Err = paths.Error(in.Path, paths.Reason(err))
	}
	r.number(ctx, in)
	return yield(in)
}
