package webdataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/store"
)

// A pattern expands to at most maxNames names, the number that webdataset
// resamples from, with at most maxBytes in all. Braces nest at most maxDepth
// deep.
const (
	maxNames = 1_000_000
	maxBytes = 256 << 20
	maxDepth = 100
)

// Expand expands a list of shards as webdataset does. The list has pieces
// divided by "::". In each, ${VAR} is replaced by env's value for VAR,
// repeatedly, and braces are expanded, the rightmost fastest:
//
//	{0..3} {000..012} {0..10..5} {3..0} {-2..2}  numbers; of one width if a bound has a leading zero
//	{a..e}                                       letters, A to Z before a to z
//	{a,b{1..2},}                                 alternatives, which may be empty
//	{} {1}                                       themselves
//
// A backslash escapes the next character. If env is nil, a variable is an
// error; webdataset uses the environment variables whose names begin with WDS_.
// Every error is an ErrPattern.
func Expand(list string, env func(name string) (value string, ok bool)) ([]string, error) {
	var names []string
	total := 0
	for _, p := range strings.Split(list, "::") {
		p, err := variables(p, env)
		if err != nil {
			return nil, err
		}
		x := expander{whole: p}
		l, err := x.pattern(p, 0)
		if err != nil {
			return nil, err
		}
		for _, s := range l {
			if total++; total > maxNames {
				return nil, x.fail("more than %d names", maxNames)
			}
			names = append(names, s)
		}
	}
	return names, nil
}

func variables(p string, env func(string) (string, bool)) (string, error) {
	for range 11 { // webdataset replaces ten times and keeps the remaining variables
		var b strings.Builder
		found := false
		rest := p
		for {
			i := strings.Index(rest, "${")
			if i < 0 {
				break
			}
			n := i + 2
			for n < len(rest) && (rest[n] == '_' || '0' <= rest[n] && rest[n] <= '9' || 'a' <= rest[n]|0x20 && rest[n]|0x20 <= 'z') {
				n++
			}
			if n == i+2 || n == len(rest) || rest[n] != '}' {
				b.WriteString(rest[:i+2])
				rest = rest[i+2:]
				continue
			}
			name := rest[i+2 : n]
			var value string
			ok := false
			if env != nil {
				value, ok = env(name)
			}
			if !ok {
				return "", fmt.Errorf("webdataset: %w: %q: there is no variable %s", ErrPattern, p, name)
			}
			b.WriteString(rest[:i] + value)
			rest = rest[n+1:]
			found = true
			if b.Len() > maxName {
				return "", fmt.Errorf("webdataset: %w: more than %d bytes with its variables", ErrPattern, maxName)
			}
		}
		if !found {
			return p, nil
		}
		b.WriteString(rest)
		p = b.String()
	}
	return "", fmt.Errorf("webdataset: %w: %q: its variables go around in a circle", ErrPattern, p)
}

type expander struct {
	whole string
	bytes int
}

func (x *expander) fail(format string, args ...any) error {
	return fmt.Errorf("webdataset: %w: %.200q: %s", ErrPattern, x.whole, fmt.Sprintf(format, args...))
}

// made counts names and bytes.
func (x *expander) made(l []string, s string) ([]string, error) {
	x.bytes += len(s)
	if len(l) >= maxNames || x.bytes > maxBytes {
		return nil, x.fail("more than %d names or %d bytes", maxNames, maxBytes)
	}
	return append(l, s), nil
}

// pattern expands literal text and braces in all combinations. As braceexpand
// does, it removes backslashes, once more within each pair of braces.
func (x *expander) pattern(p string, depth int) ([]string, error) {
	if depth > maxDepth {
		return nil, x.fail("braces in more than %d others", maxDepth)
	}
	l := []string{""}
	product := func(items ...string) (err error) {
		var m []string
		for _, a := range l {
			for _, b := range items {
				if m, err = x.made(m, a+b); err != nil {
					return err
				}
			}
		}
		l = m
		return nil
	}
	start, open := 0, 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			if open == 0 && i > start {
				if err := product(p[start:i]); err != nil {
					return nil, err
				}
				start = i
			}
			open++
		case '}':
			if open--; open != 0 {
				continue
			}
			inner := p[start+1 : i]
			start = i + 1
			items, ok, err := x.expression(inner, depth+1)
			if err == nil && !ok { // the text itself
				if items, err = x.pattern(inner, depth+1); err == nil {
					for k := range items {
						items[k] = "{" + items[k] + "}"
					}
				}
			}
			if err == nil {
				err = product(items...)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if open != 0 {
		return nil, x.fail("its braces are not balanced")
	}
	if start < len(p) {
		if err := product(p[start:]); err != nil {
			return nil, err
		}
	}
	for i := range l {
		l[i] = unescape(l[i])
	}
	return l, nil
}

// expression expands the text between braces. ok is false if it is neither a
// range nor a list of alternatives.
func (x *expander) expression(s string, depth int) (l []string, ok bool, err error) {
	if l, ok, err := x.interval(s); ok || err != nil {
		return l, ok, err
	}
	start, open := 0, 0
	add := func(end int) error {
		items, err := x.pattern(s[start:end], depth)
		if err != nil {
			return err
		}
		if len(l)+len(items) > maxNames {
			return x.fail("more than %d names", maxNames)
		}
		l = append(l, items...)
		start = end + 1
		return nil
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			open++
		case '}':
			open--
		case ',':
			if open == 0 {
				if err := add(i); err != nil {
					return nil, false, err
				}
			}
		}
	}
	if open != 0 || l == nil {
		return nil, false, nil
	}
	return l, true, add(len(s))
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// interval expands from..to or from..to..step of numbers or letters.
func (x *expander) interval(s string) (l []string, ok bool, err error) {
	f := strings.Split(s, "..")
	if len(f) != 2 && len(f) != 3 {
		return nil, false, nil
	}
	step := int64(1)
	if len(f) == 3 {
		v := strings.TrimPrefix(f[2], "-") // its sign does not matter
		if !digits(v) {
			return nil, false, nil
		}
		if step, err = strconv.ParseInt(v, 10, 62); err != nil {
			return nil, false, x.fail("the step %s is too large", v)
		}
		step = max(step, 1) // 0 is 1
	}
	isLetter := func(s string) bool { return len(s) == 1 && strings.Contains(letters, s) }
	var from, to int64
	width := 0
	letter := isLetter(f[0]) && isLetter(f[1])
	if letter {
		from, to = int64(strings.Index(letters, f[0])), int64(strings.Index(letters, f[1]))
	} else {
		for _, v := range f[:2] {
			n := strings.TrimPrefix(v, "-")
			if !digits(n) {
				return nil, false, nil
			}
			if n[0] == '0' && len(n) > 1 {
				width = max(len(f[0]), len(f[1]))
			}
		}
		var err1, err2 error
		from, err1 = strconv.ParseInt(f[0], 10, 62)
		to, err2 = strconv.ParseInt(f[1], 10, 62)
		if errors.Join(err1, err2) != nil {
			return nil, false, x.fail("the numbers of {%s} are too large", s)
		}
	}
	way := int64(1)
	if from > to {
		way = -1
	}
	for n := (to - from) * way / step; n >= 0; n-- {
		text := ""
		if letter {
			text = letters[from : from+1]
		} else {
			text = fmt.Sprintf("%0*d", width, from)
		}
		if l, err = x.made(l, text); err != nil {
			return nil, false, err
		}
		from += way * step
	}
	return l, true, nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// unescape removes the escaping backslashes.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && s[i+1] != '\n' {
			i++
		}
		b = append(b, s[i])
	}
	return string(b)
}

// Shards returns the names of a list's shards. It expands the list as Expand
// does. It replaces names with wildcards by the matching files, sorted by name,
// without index files. * matches any characters and ? one; [a-z] and [!a-z]
// match one character. Wildcards match neither a slash nor a dot at the
// beginning of a name. A name with wildcards that matches no file is an error
// that wraps fs.ErrNotExist. In the address of a store a question mark is
// literal. webdataset has no wildcards.
func Shards(ctx context.Context, o store.Opener, list string, env func(name string) (value string, ok bool)) ([]string, error) {
	names, err := Expand(list, env)
	if err != nil {
		return nil, err
	}
	var l []string
	for _, name := range names {
		if err := refuse(name); err != nil {
			return nil, err
		}
		scheme, _, remote := strings.Cut(name, "://")
		wild, rest := "*[?", name
		if remote && scheme != "file" {
			wild, rest = "*[", strings.TrimPrefix(store.Path(name), scheme+"://")
		}
		if !strings.ContainsAny(rest, wild) {
			l = append(l, name)
			continue
		}
		found, err := glob(ctx, o, name, wild)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("webdataset: %s: %w", store.Redact(name), fs.ErrNotExist)
		}
		if l = append(l, found...); len(l) > maxNames {
			return nil, fmt.Errorf("webdataset: %w: %q: more than %d names", ErrPattern, list, maxNames)
		}
	}
	return l, nil
}

// refuse returns an error for names with which webdataset runs programs.
func refuse(name string) error {
	if strings.HasPrefix(name, "pipe:") {
		return fmt.Errorf("webdataset: %q: pipes are refused, since they run programs", store.Redact(name))
	}
	return nil
}

// glob returns the matching files. Folders are separated by slashes.
func glob(ctx context.Context, o store.Opener, name, wild string) ([]string, error) {
	parts := strings.Split(name, "/")
	first := slices.IndexFunc(parts, func(s string) bool { return strings.ContainsAny(s, wild) })
	folders := []string{strings.Join(parts[:first], "/")}
	if first == 0 {
		folders[0] = "."
	} else if folders[0] == "" {
		folders[0] = "/"
	}
	for k := first; k < len(parts); k++ {
		last := k == len(parts)-1
		p := strings.ReplaceAll(parts[k], "[!", "[^")
		if wild == "*[" {
			p = strings.ReplaceAll(p, "?", `\?`)
		}
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("webdataset: %w: %q: %w", ErrPattern, store.Redact(name), err)
		}
		var found []string
		for _, folder := range folders {
			list, err := o.List(ctx, folder)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("webdataset: %w", err)
			}
			for _, i := range list {
				base := baseName(i.Name)
				ok, err := path.Match(p, base)
				if err != nil {
					return nil, fmt.Errorf("webdataset: %w: %q: %w", ErrPattern, store.Redact(name), err)
				}
				if !ok || i.Folder == last || base[0] == '.' && !strings.HasPrefix(p, ".") || last && strings.HasSuffix(base, IndexName("")) {
					continue
				}
				found = append(found, join(folder, base, first == 0))
			}
		}
		folders = found
	}
	slices.Sort(folders)
	return folders, nil
}

func join(folder, base string, relative bool) string {
	switch {
	case relative && folder == ".":
		return base
	case strings.HasSuffix(folder, "/"):
		return folder + base
	}
	return folder + "/" + base
}

// baseName returns the part after the last separator; Local has the system's
// separators.
func baseName(name string) string {
	return name[strings.LastIndexAny(strings.TrimRight(name, `/\`), `/\`)+1:]
}
