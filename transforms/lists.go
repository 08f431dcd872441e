package transforms

import (
	"encoding/json"

	"github.com/infer-prep/infer-prep/internal/msgpack"
)

// NumberList is a list of numbers. It may be empty.
type NumberList []float64

// IndexList is a list of integers. It may be empty.
type IndexList []int

// MarshalJSON returns a list, never null.
func (l NumberList) MarshalJSON() ([]byte, error) { return json.Marshal(append([]float64{}, l...)) }

// MarshalJSON returns a list, never null.
func (l IndexList) MarshalJSON() ([]byte, error) { return json.Marshal(append([]int{}, l...)) }

// UnmarshalJSON parses a list.
func (l *NumberList) UnmarshalJSON(b []byte) (err error) {
	*l, err = parseList[float64](b)
	return err
}

// UnmarshalJSON parses a list.
func (l *IndexList) UnmarshalJSON(b []byte) (err error) {
	*l, err = parseList[int](b)
	return err
}

// parseList parses a list. An empty one is nil.
func parseList[T any](b []byte) ([]T, error) {
	var list []T
	if err := json.Unmarshal(b, &list); err != nil || len(list) == 0 {
		return nil, err
	}
	return list, nil
}

// MarshalMsg appends the msgp form.
func (l NumberList) MarshalMsg(b []byte) ([]byte, error) {
	return appendList(b, l, msgpack.AppendFloat64), nil
}

// MarshalMsg appends the msgp form.
func (l IndexList) MarshalMsg(b []byte) ([]byte, error) {
	return appendList(b, l, msgpack.AppendInt), nil
}

func appendList[T any](b []byte, l []T, add func([]byte, T) []byte) []byte {
	b = msgpack.AppendArray(b, len(l))
	for _, v := range l {
		b = add(b, v)
	}
	return b
}

// UnmarshalMsg reads the msgp form and returns the rest of b. An empty list is
// nil, as in JSON.
func (l *NumberList) UnmarshalMsg(b []byte) (rest []byte, err error) {
	*l, rest, err = readList(b, msgpack.ReadFloat64)
	return rest, err
}

// UnmarshalMsg reads the msgp form and returns the rest of b. An empty list is
// nil, as in JSON.
func (l *IndexList) UnmarshalMsg(b []byte) (rest []byte, err error) {
	*l, rest, err = readList(b, msgpack.ReadInt)
	return rest, err
}

func readList[T any](b []byte, read func([]byte) (T, []byte, error)) (l []T, _ []byte, _ error) {
	n, b, err := msgpack.ReadArray(b)
	if err != nil {
		return nil, nil, err
	}
	if n > int64(len(b)) {
		return nil, nil, msgpack.ErrShort
	}
	for range n {
		var v T
		if v, b, err = read(b); err != nil {
			return nil, nil, err
		}
		l = append(l, v)
	}
	return l, b, nil
}

// Msgsize returns an upper bound of the size of the msgp form.
func (l NumberList) Msgsize() int { return msgpack.HeaderSize + len(l)*msgpack.NumberSize }

// Msgsize returns an upper bound of the size of the msgp form.
func (l IndexList) Msgsize() int { return msgpack.HeaderSize + len(l)*msgpack.NumberSize }
