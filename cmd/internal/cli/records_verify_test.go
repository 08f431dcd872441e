package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/records/kaldi"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestRecordsVerifyTime: a shard whose modification time changed is judged by
// its checksums.
func TestRecordsVerifyTime(t *testing.T) {
	recordsTree(t)
	require.Equal(t, command.ExitOK, call(t, "records", "index", "samples.tar").status)
	now := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes("samples.tar", now, now))
	r := call(t, "records", "verify", "samples.tar")
	require.Equal(t, called{command.ExitOK, "samples.tar: webdataset, 4 records, compared with samples.tar.index (the time of the shard changed, its bytes did not): ok\n", ""}, r)

	b, err := os.ReadFile("samples.tar")
	require.NoError(t, err)
	b[512] ^= 1
	require.NoError(t, os.WriteFile("samples.tar", b, 0o666))
	r = call(t, "records", "verify", "samples.tar")
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, "samples.tar: webdataset, 4 records, compared with samples.tar.index: damaged in 1 place\n", r.stdout)
	require.Contains(t, r.stderr, "samples.tar: at byte 0: the checksum of sample ")

	// A shard of another size is another shard: its index is out of date.
	require.Equal(t, command.ExitOK, call(t, "records", "convert", "plain.rec", "-o", "samples.tar", "--force").status)
	r = call(t, "records", "verify", "samples.tar")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stdout, "samples.tar: webdataset, 3 records, compared with samples.tar.index: failed with 1 error\n")
	require.Contains(t, r.stderr, "the index is not of this shard")
}

// TestRecordsVerdict: verify says "damaged" of damage alone.
func TestRecordsVerdict(t *testing.T) {
	recordsTree(t)
	require.NoError(t, os.WriteFile("a.tar.xz", []byte("\xfd7zXZ\x00\x00\x04"), 0o666))
	require.NoError(t, os.WriteFile("pickle.ark", []byte("utt PKL\x01\x00"), 0o666))
	vectors := "\x04\x02\x00\x00\x00" + "\x04\x01\x00\x00\x00" + "\x04\x07\x00\x00\x00" + "\x04\x00\x00\x00\x00"
	require.NoError(t, os.WriteFile("vectors.ark", []byte("utt \x00B"+vectors), 0o666))
	require.NoError(t, os.WriteFile("vectors.scp", []byte("utt vectors.ark:4\n"), 0o666))
	sparse, err := os.ReadFile("samples.tar")
	require.NoError(t, err)
	sparse[156] = 'S'
	copy(sparse[148:], fmt.Sprintf("%06o", 0))
	sum := 8 * int(' ')
	for i, c := range sparse[:512] {
		if i < 148 || i >= 156 {
			sum += int(c)
		}
	}
	copy(sparse[148:], fmt.Sprintf("%06o\x00 ", sum))
	require.NoError(t, os.WriteFile("sparse.tar", sparse, 0o666))
	for _, c := range []struct{ args, stdout, stderr string }{
		{"a.tar.xz", "a.tar.xz: webdataset, 0 records: failed with 1 error\n", "compressed with xz"},
		{"pickle.ark", "pickle.ark: kaldi, 0 records: failed with 1 error\n", "PKL"},
		{"vectors.scp", "vectors.scp: kaldi, 0 records: failed with 1 error\n", "\"utt\": not supported: a vector of vectors of 2 parts"},
		{"vectors.ark", "vectors.ark: kaldi, 0 records, compared with vectors.scp (1 of 1 record; nothing from byte 21 on): failed with 1 error\n", "a vector of vectors"},
		{"sparse.tar", "sparse.tar: webdataset, 0 records: failed with 1 error\n", "a sparse file"},
		{"--limit-bytes 17 samples.tar", "samples.tar: webdataset, 0 records: failed with 1 error\n", "the limit is 17"},
		{"--limit-bytes 18 samples.tar", "samples.tar: webdataset, 4 records: failed with 1 error\n", ""},
		{"--limit-bytes 20 images.rec", "images.rec: imagerecord, 0 records: failed with 1 error\n", "the limit is 20"},
		{"--limit-bytes 10 examples.tfrecord", "examples.tfrecord: tfexample, 0 records: failed with 1 error\n", "the limit is 10"},
		{"--limit-bytes 20 feats.ark", "feats.ark: kaldi, 0 records: failed with 1 error\n", "the limit is 20"},
	} {
		r := call(t, append([]string{"records", "verify"}, strings.Fields(c.args)...)...)
		if c.stderr == "" {
			require.Equal(t, command.ExitOK, r.status, r.stderr)
			continue
		}
		require.Equal(t, command.ExitFailed, r.status, c.args)
		require.Equal(t, c.stdout, r.stdout, c.args)
		require.Contains(t, r.stderr, c.stderr)
		require.NotContains(t, r.stdout+r.stderr, "damaged")
	}
}

// TestRecordsLimit: all commands have a limit for the size of a record.
func TestRecordsLimit(t *testing.T) {
	recordsTree(t)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	plain, err := os.ReadFile("samples.tar")
	require.NoError(t, err)
	_, err = z.Write(plain)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile("samples.tar.gz", b.Bytes(), 0o666))
	for _, name := range []string{"samples.tar", "samples.tar.gz"} {
		for _, args := range []string{"ls", "cat", "verify", "index --force", "convert -o out-%d.tar --force"} {
			if name == "samples.tar.gz" && strings.HasPrefix(args, "index") {
				continue
			}
			all := append([]string{"records"}, strings.Fields(args)...)
			r := call(t, append(all, "--limit-bytes", "17", name)...)
			require.Equal(t, command.ExitFailed, r.status, args)
			require.Contains(t, r.stderr, name+": at byte 2048: record too large: ", args)
			for _, limit := range []string{"18", "1Gi", "0"} {
				r = call(t, append(all, "--limit-bytes", limit, name)...)
				require.Equal(t, command.ExitOK, r.status, "%s: %s", args, r.stderr)
			}
		}
	}
	r := call(t, "records", "ls", "--limit-bytes", "-1", "samples.tar")
	require.Equal(t, command.ExitUsage, r.status)
}

// TestRecordsVerifyScript: verify says how much of a script it compared. A
// script that does not describe the archive is an error.
func TestRecordsVerifyScript(t *testing.T) {
	t.Chdir(t.TempDir())
	var ark, scp bytes.Buffer
	w := kaldi.NewWriter(&ark, kaldi.WriterOptions{Script: &scp, Name: "x.ark"})
	for i := range 8 {
		x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, 3)})
		require.NoError(t, err)
		require.NoError(t, w.Write(fmt.Sprint("utt", i), x))
	}
	require.NoError(t, os.WriteFile("x.ark", ark.Bytes(), 0o666))
	require.NoError(t, os.WriteFile("z.ark", ark.Bytes(), 0o666))
	all := scp.String()
	lines := strings.SplitAfter(all, "\n")
	of := func(name string) string { return strings.ReplaceAll(all, " x.ark", " "+name) }
	for name, c := range map[string]struct {
		scp            string
		status         int
		stdout, stderr string
	}{
		"all":           {all, command.ExitOK, ", compared with x.scp (8 of 8 records): ok\n", ""},
		"two of each":   {all + all, command.ExitOK, ", compared with x.scp (8 of 8 records): ok\n", ""},
		"one of eight":  {lines[0], command.ExitFailed, ", compared with x.scp (1 of 8 records): failed with 1 error\n", "x.scp: no line has the record \"utt1\" at byte 49 of x.ark, nor 6 others: want one for each of the 8 records"},
		"seven":         {strings.Join(lines[:7], ""), command.ExitFailed, ", compared with x.scp (7 of 8 records): failed with 1 error\n", "x.scp: no line has the record \"utt7\" at byte 313 of x.ark: want"},
		"other archive": {of("y.ark"), command.ExitFailed, ", compared with x.scp (0 of 8 records; 8 lines name other files): failed with 1 error\n", "x.scp: no line has the record \"utt0\""},
		"other, exists": {of("z.ark"), command.ExitFailed, "(0 of 8 records; 8 lines name other files): failed with 1 error\n", "x.scp: no line"},
		"moved":         {of("/data/exp/x.ark"), command.ExitOK, ", compared with x.scp (8 of 8 records): ok\n", ""},
		"two archives":  {all + of("y.ark"), command.ExitOK, ", compared with x.scp (8 of 8 records; 8 lines name other files): ok\n", ""},
		"and a command": {all + "z cat z.ark |\n", command.ExitOK, ", compared with x.scp (8 of 8 records; 1 line names another file): ok\n", ""},
		"empty":         {"", command.ExitFailed, ", compared with x.scp (0 of 8 records): failed with 1 error\n", "x.scp: no line has the record \"utt0\""},
		"wrong place":   {all + "utt0 x.ark:7\n", command.ExitFailed, "(8 of 8 records): damaged in 1 place\n", "no object, line 9 of the script has one there"},
		"wrong key":     {strings.Replace(all, "utt3", "utt9", 1), command.ExitFailed, "damaged in 1 place\n", "the key is \"utt3\", line 4 of the script has another"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile("x.scp", []byte(c.scp), 0o666))
			r := call(t, "records", "verify", "x.ark")
			require.Equal(t, c.status, r.status, r.stderr)
			require.Contains(t, r.stdout, "x.ark: kaldi, 8 records")
			require.Contains(t, r.stdout, c.stdout)
			require.Contains(t, r.stderr, c.stderr)
			if c.stderr == "" {
				require.Empty(t, r.stderr)
			}
		})
	}
}
