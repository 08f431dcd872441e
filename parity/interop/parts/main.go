// Command parts prints which image records parts of sets of files have, for
// interop.py.
//
//	parts FOLDER SET/COUNT/PART...
package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
)

func main() {
	for _, key := range os.Args[2:] {
		if err := part(os.Args[1], key); err != nil {
			fmt.Fprintf(os.Stderr, "parts: %s: %v\n", key, err)
			os.Exit(1)
		}
	}
}

func part(folder, key string) error {
	var set, count, k int
	if _, err := fmt.Sscanf(key, "%d/%d/%d", &set, &count, &k); err != nil {
		return err
	}
	s, err := recordio.OpenSplit(context.Background(), store.Local, []string{filepath.Join(folder, fmt.Sprint(set))}, recordio.SplitOptions{Part: k, Parts: count})
	if err != nil {
		return err
	}
	var ids []byte
	var r imagerecord.Record
	for {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = r.Parse(b)
		}
		if err != nil {
			return err
		}
		ids = binary.LittleEndian.AppendUint64(ids, r.ID)
	}
	field := map[string]any{"dtype": "int64", "shape": []int{len(ids) / 8}, "sha256": fmt.Sprintf("%x", sha256.Sum256(ids))}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"key": key, "fields": map[string]any{"ids": field}}); err != nil {
		return err
	}
	return s.Close()
}
