package cli

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/job"
	"github.com/stretchr/testify/require"
)

// tarLinks returns testdata/links.tar and what Python's tarfile reads of each
// member: the level of its one pixel, or why there is none.
func tarLinks(t *testing.T) (archive []byte, members [][2]string) {
	t.Helper()
	archive, err := os.ReadFile("testdata/links.tar")
	require.NoError(t, err)
	b, err := os.ReadFile("testdata/links.json")
	require.NoError(t, err)
	var l [][2]any
	require.NoError(t, json.Unmarshal(b, &l))
	for _, m := range l {
		members = append(members, [2]string{fmt.Sprint(m[0]), fmt.Sprint(m[1])})
	}
	return archive, members
}

// TestRunTarLinks: links of tar files lead to the members that Python's tarfile
// reads, in plain and compressed files. No member is left out of the report.
func TestRunTarLinks(t *testing.T) {
	archive, members := tarLinks(t)
	t.Chdir(tree(t, map[string][]byte{"l.tar": archive, "l.tar.gz": gzipped(t, archive), "l.tar.zst": zstded(t, archive)}))
	for _, name := range []string{"l.tar", "l.tar.gz", "l.tar.zst"} {
		r := call(t, "run", "--preset", "decode", "--report", "r.jsonl", "-o", "out", name)
		require.Equal(t, command.ExitFailed, r.status, r.stderr)
		got := map[string][]reportLine{}
		for _, x := range readReport(t, "r.jsonl") {
			m := strings.TrimPrefix(x.Input, name+"/")
			got[m] = append(got[m], x)
		}
		lines := 0
		for _, m := range members {
			l := got[m[0]]
			switch want := m[1]; want {
			case "no file":
				if m[0] == "d" || m[0] == "e.png" {
					continue // a folder is an input only if its name is that of an image
				}
				require.Equal(t, job.Skipped, l[0].Status, m)
			case "no image":
				require.Equal(t, job.Skipped, l[0].Status, m)
			case "missing", "loop":
				require.Equal(t, job.Failed, l[0].Status, m)
				require.Contains(t, l[0].Why, " link to ", m)
			default:
				if m[0] == "twice.png" { // the first has the output, the second fails
					require.Len(t, l, 2)
					require.Equal(t, job.Failed, l[1].Status)
					break
				}
				require.Equal(t, job.Done, l[0].Status, m)
				b, err := os.ReadFile(filepath.Join("out", name, m[0]+".npy"))
				require.NoError(t, err)
				require.Equal(t, want, fmt.Sprint(b[len(b)-1]), m)
			}
			lines++
		}
		require.Equal(t, "a folder", got["e.png/"][0].Why)
		require.Equal(t, lines, len(readReport(t, "r.jsonl"))-2, "each member has a line, and so have e.png and the end")
	}
}

// TestRunTarLinksNamed: links that are not followed are counted and named, and
// --strict makes the exit status 1.
func TestRunTarLinksNamed(t *testing.T) {
	archive, members := tarLinks(t)
	t.Chdir(tree(t, map[string][]byte{"cut.tar": archive[:len(archive)-1024*9]}))
	r := callIn(t, string(archive), "run", "--preset", "decode", "--report", "r.jsonl", "-o", "out", "-")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "infer-prep: -/hard.png: left out: a hard link to twice.png: links in a pipe are not followed: want the file\n")
	require.Equal(t, len(members), len(readReport(t, "r.jsonl")), "all but the folder d, and the end")

	r = call(t, "run", "--preset", "decode", "-o", "out", "cut.tar")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "infer-prep: cut.tar/hard.png: left out: a hard link to twice.png: the archive was not read to its end\n")

	// Two images, nothing else.
	r = callIn(t, string(tarBytes(t, tarEntry{"a.png", pngBytes(t, 5, 4, 1)}, tarEntry{"x.jpg/", nil})), "run", "--preset", "decode", "--strict", "-o", "out", "-")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "infer-prep: -/x.jpg/: left out: a folder\n1 image, 0 failed, 1 skipped")
}

// TestRunFolderNames: a folder with the name of an image is named, and walked.
func TestRunFolderNames(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/x.jpg/y.png": pngBytes(t, 5, 4, 1)}))
	r := call(t, "run", "--preset", "decode", "--strict", "-o", "out", "in")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "infer-prep: "+filepath.Join("in", "x.jpg")+": left out: a folder\n1 image, 0 failed, 1 skipped")
	require.Equal(t, []string{filepath.Join("x.jpg", "y.png.npy")}, listFiles(t, "out"))
}

// TestRecordsTarLinks: commands that read shards as records count the members
// that webdataset skips, and name the first.
func TestRecordsTarLinks(t *testing.T) {
	archive, _ := tarLinks(t)
	t.Chdir(tree(t, map[string][]byte{"l.tar": archive}))
	const note = "infer-prep: webdataset: l.tar: 24 members are in no sample, such as early.png (a symbolic link)\n"
	for _, args := range [][]string{{"ls", "l.tar"}, {"cat", "l.tar"}, {"verify", "l.tar"}, {"convert", "l.tar", "-o", "m.tar"}} {
		r := call(t, append([]string{"records"}, args...)...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Equal(t, note, r.stderr, args)
	}
}

// TestRunTarLinksLimit: names of links take bounded memory.
func TestRunTarLinksLimit(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	long := strings.Repeat("x", 900<<10)
	for i := range 40 {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: fmt.Sprint(long, i), Typeflag: tar.TypeSymlink, Linkname: "a.png"}))
	}
	require.NoError(t, w.Close())
	t.Chdir(tree(t, map[string][]byte{"l.tar.gz": gzipped(t, b.Bytes())}))
	r := call(t, "run", "--preset", "decode", "-o", "out", "l.tar.gz")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "links with names of more than 67108864 bytes, the limit of an archive")
}
