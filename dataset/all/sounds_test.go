package all

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/kaldi"
	"github.com/infer-prep/infer-prep/dataset/metadatafolder"
	"github.com/infer-prep/infer-prep/dataset/tfrecord"
	"github.com/infer-prep/infer-prep/dataset/webdataset"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/records"
	_ "github.com/infer-prep/infer-prep/records/all"
	"github.com/infer-prep/infer-prep/sound"
	_ "github.com/infer-prep/infer-prep/sound/all"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// soundFiles returns a WAV and a FLAC file of 16 kHz.
func soundFiles(t *testing.T) map[string][]byte {
	files := map[string][]byte{}
	for folder, name := range map[string]string{"wav": "fmt_18", "flac": "tone"} {
		b, err := os.ReadFile("../../sound/" + folder + "/testdata/cases.json")
		require.NoError(t, err)
		var l []struct {
			Name string
			File []byte
		}
		require.NoError(t, json.Unmarshal(b, &l))
		for _, c := range l {
			if c.Name == name {
				files[folder] = c.File
			}
		}
		require.NotEmpty(t, files[folder])
	}
	return files
}

// TestSounds decodes the same two sounds from every kind of source, by the
// graph that decodes a file.
func TestSounds(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	files := soundFiles(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, b []byte) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path(name)), 0o777))
		require.NoError(t, os.WriteFile(path(name), b, 0o666))
	}
	write("classes/x/a.wav", files["wav"])
	write("classes/y/b.flac", files["flac"])
	write("audio/a.wav", files["wav"])
	write("audio/b.flac", files["flac"])
	write("audio/metadata.jsonl", []byte(`{"file_name": "a.wav", "text": "one"}`+"\n"+`{"file_name": "b.flac", "text": "two"}`+"\n"))
	write("wav.scp", fmt.Appendf(nil, "a %s\nb %s\n", path("audio/a.wav"), path("audio/b.flac")))
	for format, name := range map[string]string{"webdataset": "s.tar", "tfrecord": "s.tfrecord"} {
		f, err := records.Lookup(format)
		require.NoError(t, err)
		w, err := f.Create(ctx, store.Local, path(name), records.WriteOptions{})
		require.NoError(t, err)
		for _, ext := range []string{"wav", "flac"} {
			field := ext
			if format == "tfrecord" {
				field = "data"
			}
			require.NoError(t, w.Write(&records.Record{Key: ext, Fields: []records.Field{{Name: field, Value: *tensor.FromBytes(files[ext])}}}))
		}
		require.NoError(t, w.Close())
	}

	classes := imagefolder.New(path("classes"))
	classes.Extensions = []string{".wav", ".flac"}
	scp := kaldi.New(path("wav.scp"))
	scp.Type, scp.DType = "file", tensor.Bytes
	shards := webdataset.New(path("s.tar"))
	shards.ColumnNames, shards.Fields, shards.ColumnTypes = []string{"sound"}, [][]string{{"wav", "flac"}}, []string{"bytes"}
	g := datagraph.New(transforms.NewDecodeSound(16000), transforms.NewMixMono())
	for _, c := range []struct {
		name, column string
		source       dataset.Source
	}{
		{"image_folder", "image", classes}, {"metadata_folder", "image", metadatafolder.New(path("audio"))}, {"kaldi", "data", scp},
		{"webdataset", "sound", shards}, {"tfrecord", "data", tfrecord.New(path("s.tfrecord"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := dataset.Build(ctx, dataset.Of(&dataset.Map{Graph: g, In: []string{c.column}, Out: []string{"waveform"}}, dataset.From(c.source)), dataset.Options{})
			require.NoError(t, err)
			defer b.Close()
			p, err := pullpipe.New(b, nil)
			require.NoError(t, err)
			defer p.Close()
			for _, ext := range []string{"wav", "flac"} {
				s, err := p.Next(ctx)
				require.NoError(t, err)
				want, _, err := sound.Decode(files[ext], codec.DefaultLimits())
				require.NoError(t, err)
				require.Equal(t, want.Data, s.Column("waveform").Data)
			}
		})
	}
}
