package job

import (
	"context"
	"fmt"
	"io"
	"path"

	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/records/webdataset"
)

// maxLinkBytes bounds the names and targets of an archive's links. No archive
// of images has as many.
const maxLinkBytes = 64 << 20

// tarLink is a hard or symbolic link in a tar file.
type tarLink struct {
	webdataset.Member
	at         int    // its number in the archive
	target     string // the clean name that it leads to
	to         tarPlace
	seen, done bool
}

// tarPlace is what a name in a tar file stands for.
type tarPlace struct {
	ok   bool
	kind webdataset.Kind
	at   int  // the member's number in the archive, or the link's in the list
	loop bool // a link that leads to itself
}

func (p tarPlace) isLink() bool {
	return p.ok && (p.kind == webdataset.HardLink || p.kind == webdataset.Symlink)
}

// newTarLink returns the link at a place of the archive. The target of a hard
// link is relative to the archive, that of a symbolic link to its own folder.
func newTarLink(m webdataset.Member, at int) *tarLink {
	l := &tarLink{Member: m, at: at, target: path.Clean(m.Link)}
	if dir, _ := path.Split(m.Name); m.Kind == webdataset.Symlink {
		l.target = path.Clean(dir + m.Link)
	}
	return l
}

// followLinks finds the members that links lead to, as Python's tarfile does: a
// hard link to the last member of its name before the link, a symbolic link to
// the last one of the archive. m is at the beginning of the archive.
func followLinks(ctx context.Context, m *webdataset.Members, links []*tarLink) error {
	places := map[string]tarPlace{} // of the targets
	for _, l := range links {
		places[l.target] = tarPlace{}
	}
	next := 0 // of links
	if err := eachMember(ctx, m, func(at int, x webdataset.Member) error {
		p := tarPlace{ok: true, kind: x.Kind, at: at}
		if next < len(links) && links[next].at == at {
			if l := links[next]; l.Kind == webdataset.HardLink {
				l.to = places[l.target]
			}
			p.at = next
			next++
		}
		name := path.Clean(x.Name)
		if _, wanted := places[name]; wanted {
			places[name] = p
		}
		return nil
	}); err != nil {
		return err
	}
	for _, l := range links {
		if l.Kind == webdataset.Symlink {
			l.to = places[l.target]
		}
	}
	for _, l := range links {
		var way []*tarLink
		for !l.seen && l.to.isLink() && l.to.at < len(links) {
			l.seen = true
			way = append(way, l)
			l = links[l.to.at]
		}
		if l.seen && !l.done {
			l.to = tarPlace{loop: true}
		}
		for _, k := range way {
			k.to, k.done = l.to, true
		}
	}
	return nil
}

// eachMember calls f with every member and its number.
func eachMember(ctx context.Context, m *webdataset.Members, f func(at int, x webdataset.Member) error) error {
	for at := 0; ; at++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, err := m.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(at, x)
		}
		if err != nil {
			return err
		}
	}
}

// leaveLinks leaves links out.
func (c *container) leaveLinks(links []*tarLink, why string) error {
	for _, l := range links {
		if err := c.leave(l.Name, fmt.Sprintf("%s to %s: %s", l.Kind, l.Link, why)); err != nil {
			return err
		}
	}
	return nil
}

// links makes the images that links of a tar file lead to, in the order of the
// members that they lead to. It reads the file twice more.
func (c *container) links(ctx context.Context, links []*tarLink) error {
	if err := c.again(ctx, func(m *webdataset.Members) error { return followLinks(ctx, m, links) }); err != nil {
		return err
	}
	wanted := map[int][]*tarLink{} // by the number of the member
	for _, l := range links {
		var err error
		switch {
		case l.to.loop:
			err = c.fail(l.Name, fmt.Errorf("%s to %s, which leads around in a circle", l.Kind, l.Link))
		case !l.to.ok && l.Kind == webdataset.HardLink:
			err = c.fail(l.Name, paths.Missing(fmt.Sprintf("%s to %s: no member before it has this name", l.Kind, l.Link)))
		case !l.to.ok:
			err = c.fail(l.Name, paths.Missing(fmt.Sprintf("%s to %s: no member of the archive has this name", l.Kind, l.Link)))
		case l.to.kind != webdataset.Regular:
			err = c.leave(l.Name, fmt.Sprintf("%s to %s, which is %s", l.Kind, l.Link, l.to.kind))
		default:
			wanted[l.to.at] = append(wanted[l.to.at], l)
		}
		if err != nil {
			return err
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return c.again(ctx, func(m *webdataset.Members) error {
		return eachMember(ctx, m, func(at int, x webdataset.Member) error {
			links := wanted[at]
			if links == nil {
				return nil
			}
			head, err := readHead(m, x)
			if err != nil {
				return err
			}
			var data []byte
			read := func() (_ []byte, err error) {
				if data == nil {
					data, err = readRest(m, head, x.Size)
				}
				return data, err
			}
			for _, l := range links {
				if !c.in.starts(head) {
					err = c.skip(l.Name, "", head)
				} else {
					err = c.image(l.Name, x.Size, read)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// again reads the tar file from its beginning.
func (c *container) again(ctx context.Context, read func(*webdataset.Members) error) error {
	f, err := c.in.Open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := webdataset.NewMembers(io.NewSectionReader(f, 0, f.Size()), c.in.Path)
	if err != nil {
		return err
	}
	defer m.Close()
	return read(m)
}

// readHead reads the first bytes of a member.
func readHead(m *webdataset.Members, x webdataset.Member) ([]byte, error) {
	head := make([]byte, min(headBytes, x.Size))
	_, err := io.ReadFull(m, head)
	return head, err
}
