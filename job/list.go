package job

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/internal/paths"
)

// maxListed is the largest length of an entry of a list of files, in bytes.
const maxListed = 1 << 20

// ReadList reads inputs from a file: paths, one a line or, if nul is true, each
// ended by a NUL byte; or a report of Job.Report, of which it takes the images
// that failed and those that an interrupted run did not begin. report says
// which it is. The name "-" means stdin.
func ReadList(ctx context.Context, name string, nul bool, stdin io.Reader) (l []Input, report bool, err error) {
	r := stdin
	if name != "-" {
		f, err := paths.Open(ctx, name)
		if err != nil {
			return nil, false, err
		}
		defer f.Close()
		r = f
	}
	end := byte('\n')
	if nul {
		end = 0
	}
	s := bufio.NewScanner(bom.NewReader(r))
	s.Buffer(nil, maxListed)
	s.Split(func(data []byte, eof bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, end); i >= 0 {
			return i + 1, data[:i], nil
		}
		if eof && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil
	})
	seen, ended := map[string]bool{}, false
	for n := 1; s.Scan(); n++ {
		entry := s.Bytes()
		if !nul {
			entry = bytes.TrimSuffix(entry, []byte("\r"))
		}
		if len(entry) == 0 {
			continue
		}
		var x reportLine
		isLine := !nul && entry[0] == '{' && json.Unmarshal(entry, &x) == nil && x.Status != ""
		if n == 1 {
			report = isLine || !nul && bytes.HasPrefix(entry, []byte(`{"input":"`)) // perhaps a part of a line
		}
		switch {
		case !report:
			l = append(l, Input{Path: string(entry)})
			continue
		case !isLine: // a kill can leave a part of the last line
			if n++; s.Scan() {
				return nil, true, fmt.Errorf("%s: line %d: not a line of a report", name, n-1)
			}
		case x.Status == endOfRun:
			ended = true
		case x.Status != Failed && x.Status != Pending:
		case x.In == "":
			l = append(l, Input{Path: x.Input, Name: filepath.FromSlash(x.Name)})
		case !seen[x.In]: // one image of a container: read the container again
			seen[x.In] = true
			l = append(l, Input{Path: x.In})
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, false, advice("%s: an entry has more than %d bytes: want paths, one a line, or %s for paths that end with a NUL byte", name, maxListed, Field("nul"))
	} else if err != nil {
		return nil, false, paths.Error(name, err)
	}
	if report && !ended {
		return nil, true, advice("%s: the report has no end, because its run was killed: run the same command again, with %s", name, fieldExisting)
	}
	return l, report, nil
}

// keptPath returns the name of the outputs of a path with KeepPath: the path
// without a drive, a leading slash and leading "..".
func keptPath(path string) string {
	path = filepath.Clean(path)
	path = strings.TrimLeft(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/")
	for path == ".." || strings.HasPrefix(path, "../") {
		path = strings.TrimPrefix(strings.TrimPrefix(path, ".."), "/")
	}
	if path == "." {
		path = ""
	}
	return filepath.FromSlash(path)
}

// keptName returns keptPath of a path, or keptURI of a URI.
func keptName(name string) string {
	if name = paths.TrimFile(name); paths.IsURI(name) {
		return filepath.FromSlash(keptURI(name))
	}
	return keptPath(name)
}
