// Package table has what sources of tables share: their files, the choice of
// columns, and the features that Hugging Face's datasets keep in them.
package table

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/lines"
	"github.com/infer-prep/infer-prep/store"
)

// Files expands names as lines.Expand does. A folder stands for the files in it
// and below it whose names end with ext.
func Files(ctx context.Context, o store.Opener, names []string, ext string) (all []string, err error) {
	for _, name := range store.Split(ctx, o, names) {
		if i, err := o.Stat(ctx, name); err == nil && i.Folder {
			name = strings.TrimSuffix(name, "/") + "/**/*" + ext
		}
		l, err := lines.Expand(ctx, o, []string{name})
		if err != nil {
			return nil, err
		}
		all = append(all, l...)
	}
	return all, nil
}

// CheckNames requires files, and distinct column names.
func CheckNames(files, columns []string) error {
	if len(files) == 0 {
		return fmt.Errorf("%w: no files, want 1 or more", dataset.ErrParam)
	}
	seen := map[string]bool{}
	for _, c := range columns {
		if c == "" || seen[c] {
			return fmt.Errorf("%w: column %q, want distinct non-empty names", dataset.ErrParam, c)
		}
		seen[c] = true
	}
	return nil
}

// MetadataKey is the key of the features in the metadata of a table's schema.
const MetadataKey = "huggingface"

// Classes returns the class names of the only chosen column whose feature is a
// ClassLabel, numbered from 0. It returns nil if no such column or several were
// chosen. text is the metadata with MetadataKey.
func Classes(text string, columns []dataset.Column) (map[string]int32, error) {
	if text == "" {
		return nil, nil
	}
	var m struct {
		Info struct {
			Features map[string]json.RawMessage `json:"features"`
		} `json:"info"`
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return nil, fmt.Errorf("%w: metadata %q: %w", dataset.ErrData, MetadataKey, err)
	}
	var classes map[string]int32
	for _, c := range columns {
		var f struct {
			Names []string `json:"names"`
			Type  string   `json:"_type"`
		}
		// A list or struct is an array or an object of other features.
		if json.Unmarshal(m.Info.Features[c.Name], &f) != nil || f.Type != "ClassLabel" {
			continue
		}
		if classes != nil {
			return nil, nil
		}
		classes = make(map[string]int32, len(f.Names))
		for i, n := range f.Names {
			if _, twice := classes[n]; twice {
				return nil, fmt.Errorf("%w: metadata %q: column %q has two classes %q", dataset.ErrData, MetadataKey, c.Name, n)
			}
			classes[n] = int32(i)
		}
	}
	return classes, nil
}
