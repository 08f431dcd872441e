package importer

import "bytes"

// HasKey reports whether the beginning of a JSON file or of a Python literal
// has one of the keys, at any depth.
func HasKey(head []byte, keys ...string) bool {
	head = Text(head)
	for _, k := range keys {
		for rest := head; ; {
			i := bytes.Index(rest, []byte(k))
			if i < 0 {
				break
			}
			before, after := rest[:i], rest[i+len(k):]
			rest = after
			if len(before) == 0 || len(after) == 0 || after[0] != before[len(before)-1] || after[0] != '"' && after[0] != '\'' {
				continue
			}
			if bytes.HasPrefix(bytes.TrimLeft(after[1:], " \t\r\n"), []byte(":")) {
				return true
			}
		}
	}
	return false
}
