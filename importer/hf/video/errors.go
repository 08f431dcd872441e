package video

import (
	"errors"
	"fmt"
)

var (
	// ErrMetadata reports invalid metadata of a video, or metadata without
	// something that the class needs.
	ErrMetadata = errors.New("invalid metadata of the video")
	// ErrSample reports a video of which the class cannot choose frames.
	ErrSample = errors.New("frames cannot be chosen")
	// ErrFrames reports frames that do not fit together or are too large.
	ErrFrames = errors.New("invalid frames")
)

// lacks returns the error of unknown metadata.
func lacks(key, why string) error {
	return fmt.Errorf("%w: %s is unknown, and %s", ErrMetadata, key, why)
}

// exceeds returns the error of a class that samples more frames than a video
// has.
func exceeds(k float64, frames int) error {
	return fmt.Errorf("%w: %v frames of %d: want less num_frames or fps", ErrSample, k, frames)
}
