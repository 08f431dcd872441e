// Goimage answers conformance's tasks with Go's image packages and
// golang.org/x/image: decoding, resizing and cropping. It is also an example of
// an engine that is not written in Python.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"runtime"

	_ "golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// request is what the runner asks.
type request struct {
	Task struct {
		Do, Library, Filter      string
		Top, Left, Height, Width int
		Antialias                bool
	}
	Files []string
	Out   string
}

// errSkip reports that these packages have no setting for a task.
var errSkip = errors.New("not supported")

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "goimage:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "--describe":
		return answer(map[string]string{"name": "Go image, x/image/draw", "version": runtime.Version(), "settings": "image.Decode; draw.BiLinear, draw.CatmullRom"})
	case len(args) == 1 && args[0] == "--lines":
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 1<<24)
		for in.Scan() {
			if err := one(in.Bytes(), nil); err != nil {
				return err
			}
		}
		return in.Err()
	case len(args) >= 3 && args[len(args)-2] == "-o":
		data, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		return one(data, args[1:])
	}
	return errors.New("want --describe, --lines, or CASE.json FILE... -o OUT")
}

// one answers a request; more are the files, -o and the output of the command
// line.
func one(data []byte, more []string) error {
	var r request
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	if n := len(more); n > 0 {
		r.Files, r.Out = more[:n-2], more[n-1]
	}
	im, err := do(&r)
	if err == nil {
		err = write(r.Out, im)
	}
	switch {
	case errors.Is(err, errSkip):
		return answer(map[string]string{"skip": err.Error()})
	case err != nil:
		return answer(map[string]string{"error": err.Error()})
	}
	return answer(map[string]string{"file": r.Out})
}

func answer(v map[string]string) error {
	return json.NewEncoder(os.Stdout).Encode(v)
}

func do(r *request) (image.Image, error) {
	if r.Task.Do != "decode" && r.Task.Do != "resize" && r.Task.Do != "crop" {
		return nil, fmt.Errorf("%w: no %s", errSkip, r.Task.Do)
	}
	data, err := os.ReadFile(r.Files[0])
	if err != nil {
		return nil, err
	}
	im, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSkip, err)
	}
	b := im.Bounds()
	switch r.Task.Do {
	case "decode":
		if r.Task.Library == "opencv" && (bytes.Contains(data, []byte("Exif")) || bytes.Contains(data, []byte("eXIf"))) {
			return nil, fmt.Errorf("%w: these packages do not apply the orientation", errSkip)
		}
		return im, nil
	case "crop":
		dst := image.NewRGBA(image.Rect(0, 0, r.Task.Width, r.Task.Height))
		draw.Draw(dst, dst.Bounds(), im, b.Min.Add(image.Pt(r.Task.Left, r.Task.Top)), draw.Src)
		return dst, nil
	}
	filter := r.Task.Filter
	if filter == "nearest_exact" {
		filter = "nearest"
	} else if filter == "nearest" && r.Task.Library != "pillow" { // NearestNeighbor takes the pixel at the centre
		filter = ""
	}
	s, ok := map[string]draw.Scaler{"nearest": draw.NearestNeighbor, "bilinear": draw.BiLinear, "bicubic": draw.CatmullRom}[filter]
	if !ok || filter != "nearest" && !r.Task.Antialias {
		return nil, fmt.Errorf("%w: no %s of this kind: draw's kernels antialias", errSkip, r.Task.Filter)
	}
	dst := image.NewRGBA(image.Rect(0, 0, r.Task.Width, r.Task.Height))
	s.Scale(dst, dst.Bounds(), im, b, draw.Src, nil)
	return dst, nil
}

// write writes the RGB bytes of an image as an npy file, without its alpha.
func write(path string, im image.Image) error {
	b := im.Bounds()
	head := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d, 3), }", b.Dy(), b.Dx())
	for (len(head)+11)%64 != 0 {
		head += " "
	}
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)+1), byte((len(head)+1)>>8))
	out = append(out, head+"\n"...)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(im.At(x, y)).(color.NRGBA)
			out = append(out, c.R, c.G, c.B)
		}
	}
	return os.WriteFile(path, out, 0o644)
}
