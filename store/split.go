package store

import (
	"context"
	"strings"
)

// Split returns names, of which one with semicolons that no file or folder has
// is a list of several, as in dmlc-core: "a.rec;https://host/b.rec". Empty
// names of such a list are left out.
func Split(ctx context.Context, o Opener, names []string) []string {
	l := make([]string, 0, len(names))
	for _, name := range names {
		if strings.Contains(name, ";") {
			if _, err := o.Stat(ctx, name); err != nil {
				for part := range strings.SplitSeq(name, ";") {
					if part != "" {
						l = append(l, part)
					}
				}
				continue
			}
		}
		l = append(l, name)
	}
	return l
}
