package transforms

import (
	"encoding/json"

	"github.com/infer-prep/infer-prep/internal/msgpack"
)

// TextList is a list of texts in UTF-8. It may be empty.
type TextList []string

// MarshalJSON returns a list, never null.
func (l TextList) MarshalJSON() ([]byte, error) { return json.Marshal(append([]string{}, l...)) }

// UnmarshalJSON parses a list.
func (l *TextList) UnmarshalJSON(b []byte) (err error) {
	*l, err = parseList[string](b)
	return err
}

// MarshalMsg appends the msgp form.
func (l TextList) MarshalMsg(b []byte) ([]byte, error) {
	return appendList(b, l, msgpack.AppendString), nil
}

// UnmarshalMsg reads the msgp form and returns the rest of b. An empty list is
// nil, as in JSON.
func (l *TextList) UnmarshalMsg(b []byte) (rest []byte, err error) {
	*l, rest, err = readList(b, func(b []byte) (string, []byte, error) {
		s, rest, err := msgpack.ReadString(b)
		return string(s), rest, err
	})
	return rest, err
}

// Msgsize returns an upper bound of the size of the msgp form.
func (l TextList) Msgsize() int {
	n := msgpack.HeaderSize
	for _, s := range l {
		n += msgpack.HeaderSize + len(s)
	}
	return n
}
