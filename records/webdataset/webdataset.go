// Package webdataset reads and writes WebDataset shards: tar files of samples,
// plain or compressed with gzip or zstd; bzip2 can be read. Adjacent members
// with the same key are the fields of one sample. The key is the member's name
// up to its first dot. Package records reads the same files as records.
//
// Keys, grouping and patterns are those of the Python package webdataset.
// Reading is strict by default. Damage that the Python package ignores is a
// records.CorruptionError: a truncated shard, a damaged header, and members
// after the end. The Python package returns the last sample of a truncated
// shard without some fields, and takes a damaged header for the end.
// docs/format/webdataset.md describes the format.
//
// Reference: webdataset 1.0.2 and braceexpand 0.1.7 of PyPI, with the tarfile
// module of Python 3.11.
package webdataset

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// ErrPattern reports an invalid pattern, or one for too many names.
	ErrPattern = errors.New("invalid pattern")
	// ErrName reports a key or field name that would change when it is read
	// back.
	ErrName = errors.New("invalid name")
	// ErrStale reports an index that does not belong to the current shard.
	ErrStale = errors.New("the index is not of this shard")
)

// Field is one member of a sample.
type Field struct {
	Ext  string // the part after the first dot of the file's name, in lower case
	Data []byte
}

// Sample is a run of adjacent members with the same key.
type Sample struct {
	Key    string
	Fields []Field // in the order of the file
	Shard  string  // its name; empty for a sample that is written
	Offset int64   // of the first member's header in the tar file, after decompression
}

// Get returns the data of a field and reports whether it exists.
func (s *Sample) Get(ext string) (data []byte, ok bool) {
	for _, f := range s.Fields {
		if f.Ext == ext {
			return f.Data, true
		}
	}
	return nil, false
}

// Clone returns a sample that owns its bytes.
func (s *Sample) Clone() *Sample {
	c := *s
	c.Fields = make([]Field, len(s.Fields))
	total := 0
	for _, f := range s.Fields {
		total += len(f.Data)
	}
	b := make([]byte, 0, total)
	for i, f := range s.Fields {
		at := len(b)
		b = append(b, f.Data...)
		c.Fields[i] = Field{f.Ext, b[at:len(b):len(b)]}
	}
	return &c
}

// KeyExt splits the name of a member into key and extension as webdataset does:
// at the first dot after the last slash. The extension is in lower case. ok is
// false for names that belong to no sample: names without that dot; base names
// that begin with it; and top folders, with their content, and top files whose
// name begins and ends with two underscores. A base name may begin with the dot
// if its folder has no dot in its name; the key then ends with the slash.
func KeyExt(name string) (key, ext string, ok bool) {
	first, _, folder := strings.Cut(name, "/")
	if !folder {
		first = strings.TrimSuffix(first, "\n") // $ of the expression ignores it
	}
	if len(first) >= 4 && strings.HasPrefix(first, "__") && strings.HasSuffix(first, "__") {
		return "", "", false
	}
	base := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[base:], '.')
	if dot < 0 {
		return "", "", false
	}
	dot += base
	// webdataset's regular expression needs a character other than a dot before
	// the dot, and no line feed before the slash.
	start := 0
	if d := strings.LastIndexByte(name[:dot], '.'); d >= 0 {
		start = d + strings.IndexByte(name[d:], '/') + 1 // a dot before the base name has a slash after it
	}
	if start == dot || strings.Contains(name[:start], "\n") {
		return "", "", false
	}
	return name[:dot], lower(name[dot+1:]), true
}

// lower is Python's str.lower for extensions: letter by letter, and bytes that
// are not UTF-8 unchanged.
func lower(s string) string {
	plain := true
	for i := range len(s) {
		plain = plain && s[i] < utf8.RuneSelf && (s[i] < 'A' || s[i] > 'Z')
	}
	if plain {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteByte(s[i])
		case r == 'İ': // the one letter whose lower case is two in Unicode's tables
			b.WriteString("i\u0307")
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		i += n
	}
	return b.String()
}

// reserved are the field names that webdataset uses itself.
func reserved(ext string) bool {
	switch ext {
	case "__key__", "__url__", "__local_path__", "__bad__":
		return true
	}
	return false
}
