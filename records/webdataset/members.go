package webdataset

import (
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/store"
)

// Member is a member of a tar file.
type Member struct {
	Name   string // as the archive has it
	Size   int64  // in bytes; 0 for links, folders and devices
	Offset int64  // of its header in the tar file, after decompression
	Kind   Kind
	Link   string // of a link: what it leads to, as the archive has it
}

// Members reads the members of a tar file in order. Unlike a Reader it
// does not group them into samples, so that names need no extension and may
// occur twice. It is for one goroutine at a time.
type Members struct {
	t   tarReader
	end func() error
	err error
}

// NewMembers returns the members of the tar file in r. It detects the
// compression from the first bytes, as NewReader does. name is for errors.
func NewMembers(r io.Reader, name string) (*Members, error) {
	m := &Members{t: tarReader{all: true}}
	var err error
	m.end, err = m.t.unpack(r, name)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Next returns the next member. It skips what was not read of the last one. It
// returns io.EOF at the end of a valid archive, and any other error again at
// every later call.
func (m *Members) Next() (Member, error) {
	if m.err != nil {
		return Member{}, m.err
	}
	x, err := m.t.next()
	if m.err = err; err != nil {
		return Member{}, err
	}
	return Member{x.name, x.size, x.start, x.kind, x.link}, nil
}

// Read reads the data of the last member, up to io.EOF.
func (m *Members) Read(b []byte) (int, error) {
	switch {
	case m.err != nil:
		return 0, m.err
	case m.t.left == 0:
		return 0, io.EOF
	}
	n, err := m.t.full(b[:min(int64(len(b)), m.t.left)])
	if m.t.left -= int64(n); err != nil {
		m.err = m.t.fail(m.t.at, "the data of a member", err)
	}
	return n, m.err
}

// Close ends the decompression. It does not close the reader of NewMembers.
func (m *Members) Close() error {
	if m.err == nil {
		m.err = fmt.Errorf("webdataset: %s: closed", store.Redact(m.t.name))
	}
	return m.end()
}
