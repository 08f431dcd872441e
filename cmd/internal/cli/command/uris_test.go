package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWithoutSecrets hides the queries and users of all URIs in a message.
func TestWithoutSecrets(t *testing.T) {
	for text, want := range map[string]string{
		`Get "https://h/a?pw=S": EOF`:            `Get "https://h/a?xxxxx": EOF`,
		"https://h/a?code=S: 404":                "https://h/a?xxxxx: 404",
		"a HTTPS://h/a?%73ig=S, http://h/b?S.":   "a HTTPS://h/a?xxxxx, http://h/b?xxxxx.",
		"run 'http://h/a?x=S'":                   "run 'http://h/a?xxxxx'",
		"http://h/a?p=S'S<S>S: no":               "http://h/a?xxxxx: no",
		"http://u:S@h/a, s3://k:S@bucket/a: bad": "http://xxxxx@h/a, s3://xxxxx@bucket/a: bad",
		"http://h/a#S":                           "http://h/a?xxxxx",
		"s3://bucket/a?b and a/b?c":              "s3://bucket/a?b and a/b?c",
	} {
		require.Equal(t, want, WithoutSecrets(text))
	}
}
