package pack

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/internal/bom"
)

// ErrManifest reports an invalid line of a manifest.
var ErrManifest = errors.New("invalid line of a manifest")

// maxManifestLine bounds a line in bytes.
const maxManifestLine = 16 << 20

// manifestLine is a line of a manifest.
type manifestLine struct {
	Source     *string `json:"source"`
	Usage      *string `json:"usage"`
	Annotation *[]struct {
		Name string `json:"name"`
	} `json:"annotation"`
}

// manifest adds the images of a manifest. It reads the manifest twice: the
// numbers of the classes follow from all of their names.
func (l *planLister) manifest() error {
	number := map[string]int{}
	if err := l.open(func(r io.Reader) error {
		return l.manifestLines(r, func(m *manifestLine) error {
			for _, a := range *m.Annotation {
				number[a.Name] = 0
			}
			return nil
		})
	}); err != nil {
		return err
	}
	l.out.ClassNames = slices.AppendSeq([]string{}, maps.Keys(number))
	slices.Sort(l.out.ClassNames)
	for i, n := range l.out.ClassNames {
		number[n] = i
	}
	return l.open(func(r io.Reader) error {
		return l.manifestLines(r, func(m *manifestLine) error {
			e := Entry{Number: uint64(l.found.Samples), Files: []EntryFile{{Path: *m.Source, Size: -1}}}
			for _, a := range *m.Annotation {
				n, ok := number[a.Name]
				if !ok {
					return fmt.Errorf("%w: class %q: the manifest has changed while it was read", ErrManifest, a.Name)
				}
				e.Labels = append(e.Labels, float32(n))
			}
			return l.add(&e)
		})
	})
}

// manifestLines calls do with the lines of the wanted usage that have a label.
func (l *planLister) manifestLines(r io.Reader, do func(m *manifestLine) error) error {
	s := bufio.NewScanner(bom.NewReader(r))
	s.Buffer(nil, maxManifestLine)
	n := 1
	bad := func(err error) error { return fmt.Errorf("pack: plan: %s:%d: %w", l.in.Name, n, err) }
	for ; s.Scan(); n++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		if n%1024 == 0 && l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		var m manifestLine
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			return bad(fmt.Errorf("%w: %w", ErrManifest, err))
		}
		switch {
		case m.Usage == nil:
			return bad(fmt.Errorf(`%w: no "usage"`, ErrManifest))
		case !strings.EqualFold(*m.Usage, l.in.Usage):
			continue
		case m.Source == nil || *m.Source == "":
			return bad(fmt.Errorf(`%w: no "source"`, ErrManifest))
		case m.Annotation == nil:
			return bad(fmt.Errorf(`%w: no "annotation"`, ErrManifest))
		case len(*m.Annotation) == 0:
			continue
		}
		for _, a := range *m.Annotation {
			if a.Name == "" {
				return bad(fmt.Errorf("%w: an annotation without a name", ErrManifest))
			}
		}
		if err := do(&m); err != nil {
			return bad(err)
		}
	}
	if err := s.Err(); err != nil {
		return bad(err)
	}
	return nil
}
