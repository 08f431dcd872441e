package mxnet

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// The text forms of parameters, as MXNet's C interface takes them and its Python
// one writes them.

// parseShape reads "(3, 2)", "(3,)", "[3,2]", "3".
func parseShape(s string) (tensor.Shape, error) {
	bad := errors.New("no shape")
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

// parseBool reads what MXNet does.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, errors.New("no truth value")
}

// nearest is the name that is most like one: with the fewest letters to put in,
// leave out or change.
func nearest(name string, names []string) string {
	best, least := "", -1
	for _, n := range slices.Sorted(slices.Values(names)) {
		if d := distance(strings.ToLower(name), n); least < 0 || d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is Levenshtein's.
func distance(a, b string) int {
	line := make([]int, len(b)+1)
	for j := range line {
		line[j] = j
	}
	for i := range len(a) {
		diagonal := line[0]
		line[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = line[j+1]
			line[j+1] = min(d, line[j]+1, line[j+1]+1)
		}
	}
	return line[len(b)]
}
