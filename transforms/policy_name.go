package transforms

import (
	"slices"

	"github.com/infer-prep/infer-prep/internal/msgpack"
)

// PolicyName names a FeedbackPolicy, for the training program that changes its
// weights.
type PolicyName string

const maxPolicyName = 64

// check checks the characters.
func (n PolicyName) check() error {
	bad := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.')
	}
	if len(n) < 1 || len(n) > maxPolicyName || slices.ContainsFunc([]rune(n), bad) {
		return paramErr("name is %q, want 1 to 64 letters, digits, '_', '-' and '.'", string(n))
	}
	return nil
}

// MarshalMsg appends the msgp form.
func (n PolicyName) MarshalMsg(b []byte) ([]byte, error) {
	return msgpack.AppendString(b, string(n)), nil
}

// UnmarshalMsg reads the msgp form and returns the rest of b.
func (n *PolicyName) UnmarshalMsg(b []byte) ([]byte, error) {
	text, rest, err := msgpack.ReadString(b)
	if err != nil {
		return nil, err
	}
	if len(text) > maxPolicyName {
		return nil, paramErr("name has %d bytes, want 1 to %d", len(text), maxPolicyName)
	}
	*n = PolicyName(text)
	return rest, nil
}

// Msgsize returns an upper bound of the size of the msgp form.
func (n PolicyName) Msgsize() int { return msgpack.HeaderSize + len(n) }
