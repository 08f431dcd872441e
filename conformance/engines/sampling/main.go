// Sampling prints the frames that a video processor chooses, for conformance's
// engine of infer-prep: the command line has no such command. It reads a task
// of conformance/README.md on standard input and prints a JSON array.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sampling:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var task struct {
		Processor     string
		Settings      map[string]json.RawMessage
		Frames        int
		FPS, Duration float64
	}
	if err := json.NewDecoder(in).Decode(&task); err != nil {
		return err
	}
	settings := map[string]any{"video_processor_type": task.Processor, "do_sample_frames": true}
	for k, v := range task.Settings {
		settings[k] = v
	}
	data, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	s, err := video.ImportSampling(data)
	if err != nil {
		return err
	}
	indices, err := s.Indices(video.Metadata{Frames: task.Frames, FPS: task.FPS, Duration: task.Duration})
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(indices)
}
