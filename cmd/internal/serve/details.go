package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/infer-prep/infer-prep/cmd/internal/outline"
)

// imageJSON describes an image of a request. It is in a response if the URL has
// details=true.
type imageJSON struct {
	Size   [2]int `json:"size"`   // height and width, as decoded
	SHA256 string `json:"sha256"` // of the encoded bytes, in hexadecimal digits
	outline.Tokens
}

// soundJSON describes a sound of a request.
type soundJSON struct {
	Channels int    `json:"channels"`
	Samples  int    `json:"samples"` // of each channel, as decoded
	SHA256   string `json:"sha256"`  // of the encoded bytes, in hexadecimal digits
}

// soundDetails describes the sounds of r, which have run. The lease grows with
// the text.
func (s *Server) soundDetails(r *request, l *lease) (json.RawMessage, error) {
	if err := l.grow(int64(len(r.images)) * 256); err != nil {
		return nil, err
	}
	sounds := make([]soundJSON, len(r.images))
	for i, b := range r.images {
		sum := sha256.Sum256(b)
		sounds[i] = soundJSON{Channels: r.sizes[i][0], Samples: r.sizes[i][1], SHA256: hex.EncodeToString(sum[:])}
	}
	return json.Marshal(sounds)
}

// wantsDetails reports whether the query asks for details.
func wantsDetails(query url.Values) (bool, error) {
	switch v := query.Get("details"); v {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, fail(http.StatusBadRequest, "details %.100q: want true or false", v)
	}
}

// details describes the images of r, which have run. The lease grows with the
// text.
func (s *Server) details(r *request, l *lease) (json.RawMessage, error) {
	images := make([]imageJSON, len(r.images))
	for i, b := range r.images {
		sum := sha256.Sum256(b)
		images[i] = imageJSON{Size: r.sizes[i], SHA256: hex.EncodeToString(sum[:])}
	}
	size := int64(len(images)) * 256
	if s.o.Tokens != nil {
		tokens, err := s.o.Tokens.Images(r.sizes...)
		if err != nil {
			return nil, fail(http.StatusBadRequest, "tokens: %w", err)
		}
		for i, t := range tokens {
			images[i].Tokens = outline.TokensOf(t)
			size += 7 * int64(len(t.Text)) // the text, and six bytes for each of its own in JSON
		}
	}
	if err := l.grow(size); err != nil {
		return nil, err
	}
	return json.Marshal(images)
}
