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

// castagnoli is the polynomial of all checksums of this package.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// journal is the file in which a pack records its progress, so that it can
// resume after a kill. It is text: one line with the digest of input and
// options, then one line per state S, as JSON after its CRC-32C. An incomplete
// line and everything after it are ignored.
type journal[S any] struct {
	f *os.File
}

// openJournal opens or creates a journal and returns its states, oldest first.
// It returns ErrOther if the digest differs, and filelock.ErrLocked if another
// process is packing.
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
	if now, err := os.Stat(path); err != nil || !sameFile(f, now) { // another process finished in between
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

// checked returns a line without its checksum, and whether the checksum is
// correct.
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

// note appends a state. It survives a kill of the process, and with durable
// also a loss of power. States are compared with the files, so a lost one costs
// only the work since the state before it.
func (j *journal[S]) note(s S, durable bool) error {
	b, err := json.Marshal(s)
	if err == nil {
		err = j.write(b)
	}
	if err == nil && durable {
		err = j.f.Sync()
	}
	return err
}

// close closes the journal and keeps it for the next run.
func (j *journal[S]) close() error { return j.f.Close() }

// remove removes the journal of a finished pack.
func (j *journal[S]) remove() error {
	return removeOpen(j.f)
}

// removeOpen removes and closes a file; some systems require the reverse order.
func removeOpen(f *os.File) error {
	err := os.Remove(f.Name())
	cerr := f.Close()
	if err != nil {
		err = os.Remove(f.Name())
	}
	return errors.Join(err, cerr)
}

// dropJournal removes the journal of another pack, if it exists and no process
// uses it.
func dropJournal(path string) error { return lockJournal(path, removeOpen) }

// emptyJournal empties the journal of an unfinished pack under the same
// conditions. The file stays, so that the pack's shards are still recognised.
func emptyJournal(path string) error {
	return lockJournal(path, func(f *os.File) error { return errors.Join(f.Truncate(0), f.Close()) })
}

// lockJournal locks a journal and calls do, which closes it.
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
