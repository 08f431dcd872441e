package mxnet

import (
	"errors"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// The text forms of parameters are those that MXNet's C interface takes and its
// Python interface writes.

// parseShape reads "(3, 2)", "(3,)", "[3,2]" or "3".
func parseShape(s string) (tensor.Shape, error) {
	bad := errors.New("invalid shape")
	s = strings.TrimSpace(s)
	if len(s) > 1 && (s[0] == '(' && s[len(s)-1] == ')' || s[0] == '[' && s[len(s)-1] == ']') {
		s = strings.TrimSuffix(strings.TrimSpace(s[1:len(s)-1]), ",")
	}
	var r tensor.Shape
	for f := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < 1 || r.Rank() == tensor.MaxRank-1 {
			return r, bad
		}
		r = r.Append(n)
	}
	return r, nil
}

// parseBool reads the truth values that MXNet accepts.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, errors.New("invalid truth value")
}
