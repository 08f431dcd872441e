package command

import (
	"regexp"
	"strings"

	"github.com/infer-prep/infer-prep/internal/paths"
)

// inText matches the URIs in a message.
var inText = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://[^\s"]+`)

// WithoutSecrets returns a message with its URIs as shown shows them.
func WithoutSecrets(text string) string {
	return inText.ReplaceAllStringFunc(text, func(uri string) string {
		bare := strings.TrimRight(uri, ":;,.)>'")
		return paths.Shown(bare) + uri[len(bare):]
	})
}
