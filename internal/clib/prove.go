package clib

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"strings"
)

// Prove checks a decoder's library. Folder proof of files has small images. Its
// file planes.sha256 has the digests of their planes, which the reference's
// library gave. The function decode decodes an image and writes its planes to
// h.
func Prove(files fs.FS, decode func(data []byte, h hash.Hash) error) error {
	list, err := fs.ReadFile(files, "proof/planes.sha256")
	if err != nil {
		return err
	}
	for line := range bytes.Lines(list) {
		want, name, _ := strings.Cut(strings.TrimSpace(string(line)), "  ")
		data, err := fs.ReadFile(files, "proof/"+name)
		if err != nil {
			return err
		}
		h := sha256.New()
		if err := decode(data, h); err != nil {
			return fmt.Errorf("built-in file %s: %w", name, err)
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			return fmt.Errorf("built-in file %s has planes of SHA-256 %s, want %s", name, got, want)
		}
	}
	return nil
}
