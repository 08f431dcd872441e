package httpstore

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// parseContentRange parses the header Content-Range: "bytes 0-9/100", the first
// and last byte and the size of the whole file; "bytes 0-9/*" with an unknown
// size, which is then -1; or "bytes */100" without bytes, where to is -1.
func parseContentRange(text string) (from, to, size int64, err error) {
	bad := fmt.Errorf("invalid Content-Range %q", text)
	unit, rest, ok := strings.Cut(text, " ")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return 0, 0, 0, bad
	}
	part, whole, ok := strings.Cut(strings.TrimSpace(rest), "/")
	if !ok {
		return 0, 0, 0, bad
	}
	size = -1
	if whole != "*" {
		if size, ok = parseNumber(whole); !ok {
			return 0, 0, 0, bad
		}
	}
	if part == "*" {
		if size < 0 {
			return 0, 0, 0, bad
		}
		return 0, -1, size, nil
	}
	first, last, ok := strings.Cut(part, "-")
	if !ok {
		return 0, 0, 0, bad
	}
	from, ok = parseNumber(first)
	to, ok2 := parseNumber(last)
	if !ok || !ok2 || to < from || size >= 0 && to >= size {
		return 0, 0, 0, bad
	}
	return from, to, size, nil
}

// parseNumber parses decimal digits.
func parseNumber(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil
}

// retryAfter parses the header Retry-After: seconds, or a time. It returns 0
// for anything else.
func retryAfter(text string, now time.Time) time.Duration {
	if n, ok := parseNumber(text); ok {
		return time.Duration(min(n, 1<<20)) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// parseDigest parses the header Content-Digest (RFC 9530), such as
// "sha-256=:BASE64:". It returns nil unless it holds a SHA-256 or SHA-512.
func parseDigest(text string) ([]byte, func() hash.Hash) {
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		value, _, _ = strings.Cut(value, ";") // parameters
		newHash := sha256.New
		switch strings.ToLower(name) {
		case "sha-256":
		case "sha-512":
			newHash = sha512.New
		default:
			continue
		}
		if len(value) < 2 || value[0] != ':' || value[len(value)-1] != ':' {
			continue
		}
		sum, err := base64.StdEncoding.DecodeString(value[1 : len(value)-1])
		if err == nil && len(sum) == newHash().Size() {
			return sum, newHash
		}
	}
	return nil, nil
}
