package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// statusError is an error with the status of its response.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }

func (e *statusError) Unwrap() error { return e.err }

// fail returns an error with a status.
func fail(status int, format string, args ...any) error {
	return &statusError{status, fmt.Errorf(format, args...)}
}

// statusGone is the status of a request whose client has gone. Only the metrics
// show it. The number is that of nginx.
const statusGone = 499

// statusOf returns the status that fits an error.
func statusOf(err error) int {
	var status *statusError
	var large *http.MaxBytesError
	var image *codec.Error
	switch {
	case errors.As(err, &status):
		return status.status
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, context.Canceled):
		return statusGone
	case errors.Is(err, os.ErrDeadlineExceeded): // reading the body
		return http.StatusRequestTimeout
	case errors.As(err, &large), errors.Is(err, codec.ErrLimit):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, codec.ErrUnsupported), errors.As(err, &image) && (image.Format == "" || image.Format == "sound") && errors.Is(err, codec.ErrFormat):
		return http.StatusUnsupportedMediaType // no image or sound, or of no supported format
	case errors.Is(err, codec.ErrFormat), errors.Is(err, transforms.ErrInput), errors.Is(err, tensor.ErrDesc),
		errors.Is(err, video.ErrMetadata), errors.Is(err, video.ErrSample), errors.Is(err, video.ErrFrames):
		return http.StatusBadRequest // a damaged image, or one that the graph does not take; likewise a video
	}
	return http.StatusInternalServerError
}
