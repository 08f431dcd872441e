package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/infer-prep/infer-prep/internal/filelock"
)

// ErrOther is the error of a pack that would go on with the work of another one.
var ErrOther = errors.New("an unfinished pack with other parameters or items")

// castagnoli is the polynomial of all checksums here.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// journal is the file in which a pack notes how far it is, so that it can go on after it was
// killed. It is text: a line with the digest of what is packed and how, then a line for each state S, as
// JSON behind the CRC-32C of it. A line that was not written to its end does not
// count, and neither does what follows it.
type journal[S any] struct {
	f *os.File
}

// openJournal opens or makes a journal, and gives the states that it has, oldest
// first. It is ErrOther if the digest is not this one, and filelock.ErrLocked if
// another process is at work.
func openJournal[S any](path, digest string) (j *journal[S], states []S, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("pack: %s: %w", path, errors.Join(err, f.Close()))
		}
	}()
	if err := filelock.TryLock(f); err != nil {
		return nil, nil, err
	}
	if now, err := os.Stat(path); err != nil || !sameFile(f, now) { // another one finished in between
		return nil, nil, errors.Join(filelock.ErrLocked, err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, nil, err
	}
	sound := 0 // bytes
	for first := true; ; first = false {
		line, _, whole := bytes.Cut(b[sound:], []byte("\n"))
		text, ok := checked(line)
		if !whole || !ok {
			break
		}
		if first {
			if string(text) != digest {
				return nil, nil, ErrOther
			}
		} else {
			var s S
			if json.Unmarshal(text, &s) != nil {
				break
			}
			states = append(states, s)
		}
		sound += len(line) + 1
	}
	if err := f.Truncate(int64(sound)); err != nil {
		return nil, nil, err
	}
	if _, err := f.Seek(int64(sound), io.SeekStart); err != nil {
		return nil, nil, err
	}
	j = &journal[S]{f}
	if sound == 0 {
		err = j.write([]byte(digest))
	}
	return j, states, err
}

func sameFile(f *os.File, i fs.FileInfo) bool {
	j, err := f.Stat()
	return err == nil && os.SameFile(i, j)
}

// checked is a line without its checksum; ok if that is right.
func checked(line []byte) (text []byte, ok bool) {
	if len(line) < 9 || line[8] != ' ' {
		return nil, false
	}
	text = line[9:]
	return text, string(line[:8]) == fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli))
}

func (j *journal[S]) write(text []byte) error {
	_, err := fmt.Fprintf(j.f, "%08x %s\n", crc32.Checksum(text, castagnoli), text)
	return err
}

// note adds a state. It is on the disk when note returns nil.
func (j *journal[S]) note(s S) error {
	b, err := json.Marshal(s)
	if err == nil {
		err = j.write(b)
	}
	return errors.Join(err, j.f.Sync())
}

// close leaves the journal for the next time.
func (j *journal[S]) close() error { return j.f.Close() }

// remove ends a pack that is finished.
func (j *journal[S]) remove() error {
	return removeOpen(j.f)
}

// removeOpen removes and closes a file; some systems want the reverse order.
func removeOpen(f *os.File) error {
	err := os.Remove(f.Name())
	cerr := f.Close()
	if err != nil {
		err = os.Remove(f.Name())
	}
	return errors.Join(err, cerr)
}

// dropJournal removes the journal of another pack, if there is one and no process is at work with it.
func dropJournal(path string) error { return lockJournal(path, removeOpen) }

// emptyJournal forgets an unfinished pack likewise. The file stays, so that its shards are still
// known for what they are.
func emptyJournal(path string) error {
	return lockJournal(path, func(f *os.File) error { return errors.Join(f.Truncate(0), f.Close()) })
}

// lockJournal does something with a journal, and closes it.
func lockJournal(path string, do func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if err = filelock.TryLock(f); err == nil {
			err = do(f)
		} else {
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("pack: %s: %w", path, err)
	}
	return nil
}
