// Package webdataset reads and writes shards of samples: tar files, plain or
// compressed by gzip or zstd (bzip2 is read), in which adjacent members with the
// same key, which is what stands before the first dot of the file's name, are the
// fields of one sample.
//
// Keys, grouping and patterns are those of webdataset. Reading is strict unless
// asked otherwise: what webdataset passes over in silence (a shard that is cut
// off, whose last sample it gives without some of its fields; a damaged header in
// the middle, which it takes for the end; members behind the end) is a
// records.CorruptionError with file and offset. docs/format/webdataset.md has the format.
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
	// ErrPattern is the error of a pattern that is none, or stands for too many names.
	ErrPattern = errors.New("invalid pattern")
	// ErrName is the error of a key or field that would not be read back as it is.
	ErrName = errors.New("invalid name")
	// ErrStale is the error of an index that is not of the shard as it is now.
	ErrStale = errors.New("the index is not of this shard")
)

// Field is one member of a sample.
type Field struct {
	Ext  string // what follows the first dot of the file's name, in lower case
	Data []byte
}

// Sample is adjacent members with the same key.
type Sample struct {
	Key    string
	Fields []Field // in the order of the file
	Shard  string  // its name; empty for a sample that is written
	Offset int64   // of the first member's header in the tar file, after decompression
}

// Get is the data of a field; ok is false if there is none.
func (s *Sample) Get(ext string) (data []byte, ok bool) {
	for _, f := range s.Fields {
		if f.Ext == ext {
			return f.Data, true
		}
	}
	return nil, false
}

// clone is a sample that owns its bytes.
func (s *Sample) clone() *Sample {
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
// at the first dot of what follows the last slash. The extension is in lower case.
// ok is false for what belongs to no sample: a name without such a dot, one that
// begins with it (unless the folder that it is in has no dot in its name: the key
// then ends with the slash), and everything in a first folder, or a file, whose name
// begins and ends with two underscores.
func KeyExt(name string) (key, ext string, ok bool) {
	first, _, folder := strings.Cut(name, "/")
	if !folder {
		first = strings.TrimSuffix(first, "\n") // which $ of the expression passes over
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
	// webdataset's expression wants characters other than dots before the dot, as many as
	// there are behind some slash, and takes no line feed before that slash.
	start := 0
	if d := strings.LastIndexByte(name[:dot], '.'); d >= 0 {
		start = d + strings.IndexByte(name[d:], '/') + 1 // a dot before the base name has a slash behind it
	}
	if start == dot || strings.Contains(name[:start], "\n") {
		return "", "", false
	}
	return name[:dot], lower(name[dot+1:]), true
}

// lower is Python's str.lower for what extensions consist of: letters one by one,
// bytes that are no UTF-8 as they are.
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

// reserved are the names that webdataset keeps for itself in a sample.
func reserved(ext string) bool {
	switch ext {
	case "__key__", "__url__", "__local_path__", "__bad__":
		return true
	}
	return false
}
