package objects

import (
	"net/http"

	"github.com/infer-prep/infer-prep/store/remote"
)

// CountUpload counts a request, if it is one of an upload. Transports call it
// for every request. content reports whether the request's body is a part of
// the object.
func CountUpload(r *http.Request, content bool) {
	n := int64(0)
	if content {
		n = max(0, r.ContentLength)
	}
	// Parts differ in the URL, or in the range of one upload.
	remote.CountRequest(r.Context(), r.Method+" "+r.URL.String()+" "+r.Header.Get("Content-Range"), n)
}
