package httpstore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxNetrc bounds the file with credentials, in bytes.
const maxNetrc = 1 << 20

// netrc holds the credentials of a file as curl reads it.
type netrc []credentials

// credentials are those of a host.
type credentials struct {
	host            string // "" for any
	login, password string
}

// readNetrc reads the file that NETRC names, or else ~/.netrc (on Windows also
// ~/_netrc). No file is no credentials.
func readNetrc() (netrc, error) {
	names := []string{os.Getenv("NETRC")}
	if names[0] == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, nil
		}
		names = []string{filepath.Join(home, ".netrc")}
		if runtime.GOOS == "windows" {
			names = append(names, filepath.Join(home, "_netrc"))
		}
	}
	for _, name := range names {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("netrc: %w", err)
		}
		b, err := io.ReadAll(io.LimitReader(f, maxNetrc+1))
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("netrc: %w", err)
		}
		if len(b) > maxNetrc {
			return nil, fmt.Errorf("netrc: %s: want at most %d bytes", name, maxNetrc)
		}
		rc, err := parseNetrc(string(b))
		if err != nil {
			return nil, fmt.Errorf("netrc: %s: %w", name, err)
		}
		return rc, nil
	}
	return nil, nil
}

// find returns the credentials of a host: those of its first machine, else of
// default.
func (rc netrc) find(host string) (credentials, bool) {
	for _, c := range rc {
		if c.host == "" || strings.EqualFold(c.host, host) {
			return c, true
		}
	}
	return credentials{}, false
}

// parseNetrc parses machine, default, login, password and account entries, in
// any number of lines, with # comments and "quoted" words. Macros are skipped.
// Errors hold line numbers only.
func parseNetrc(text string) (netrc, error) {
	var rc netrc
	macro := false
	var key string // the word whose value comes next
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if macro { // it ends with an empty line
			macro = strings.TrimSpace(line) != ""
			continue
		}
		for {
			word, rest, quoted, err := nextWord(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			if word == "" && !quoted || word != "" && word[0] == '#' && !quoted && key == "" {
				break
			}
			line = rest
			if key == "" {
				switch word {
				case "default":
					rc = append(rc, credentials{})
				case "machine", "login", "password", "account", "macdef":
					key = word
				default:
					return nil, fmt.Errorf("line %d: unknown word: want machine, default, login, password, account or macdef", i+1)
				}
				continue
			}
			switch {
			case key == "machine":
				if word == "" {
					return nil, fmt.Errorf("line %d: machine has no name", i+1)
				}
				rc = append(rc, credentials{host: word})
			case key == "macdef":
				macro = true
			case len(rc) == 0:
				return nil, fmt.Errorf("line %d: %s comes before any machine", i+1, key)
			case key == "login":
				rc[len(rc)-1].login = word
			case key == "password":
				rc[len(rc)-1].password = word
			}
			key = ""
			if macro {
				break
			}
		}
	}
	if key != "" {
		return nil, fmt.Errorf("%s at the end has no value", key)
	}
	return rc, nil
}

// nextWord returns the first word of a line and the rest. Quotes hold spaces
// and the escapes \n, \r, \t and \ before any other character.
func nextWord(line string) (word, rest string, quoted bool, err error) {
	line = strings.TrimLeft(line, " \t\r")
	if !strings.HasPrefix(line, `"`) {
		if i := strings.IndexAny(line, " \t\r"); i >= 0 {
			return line[:i], line[i:], false, nil
		}
		return line, "", false, nil
	}
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			return b.String(), line[i+1:], true, nil
		case c == '\\' && i+1 < len(line):
			i++
			switch e := line[i]; e {
			case 'n':
				b.WriteByte('\n')
			case 'r':
				b.WriteByte('\r')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(e)
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", true, errors.New("a quote does not end")
}
