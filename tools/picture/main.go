// Command picture draws a PNG file with a command, and keeps the old file if
// its pixels are the same: an encoder of another version must not change it.
//
//	go run ./tools/picture FILE COMMAND [ARGUMENT...]
//
// The command gets the name of the file to write as its last argument.
package main

import (
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: picture FILE COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	if err := update(os.Args[1], os.Args[2], os.Args[3:]...); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// update draws a file with a command.
func update(file, command string, args ...string) error {
	dir, err := os.MkdirTemp("", "picture")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	drawn := filepath.Join(dir, filepath.Base(file))
	c := exec.Command(command, append(slices.Clone(args), drawn)...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	b, err := os.ReadFile(drawn)
	if err != nil {
		return err
	}
	if same(drawn, file) {
		return nil
	}
	return os.WriteFile(file, b, 0o644)
}

// same reports whether two PNG files can be read and have the same pixels.
func same(a, b string) bool {
	x, err := read(a)
	if err != nil {
		return false
	}
	y, err := read(b)
	return err == nil && x.Rect == y.Rect && slices.Equal(x.Pix, y.Pix)
}

func read(name string) (*image.NRGBA, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := image.NewNRGBA(m.Bounds())
	draw.Draw(p, p.Rect, m, p.Rect.Min, draw.Src)
	return p, nil
}
