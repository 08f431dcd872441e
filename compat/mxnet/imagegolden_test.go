package mxnet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/tensor"
)

// imageGolden is the output of MXNet's ImageRecordIter;
// testdata/gen/mxnet/mxnet_images.py generates it.
type imageGolden struct {
	Params [][2]*string
	Decode map[string][]*[3]any
	Cases  []struct {
		Name   string
		Files  []string
		Params map[string]any
		Out    []imageBatch
	}
}

type imageBatch struct {
	Pad    int
	Labels []float32
	Images []string
}

func readImageGolden(t *testing.T) *imageGolden {
	t.Helper()
	b, err := os.ReadFile("testdata/images.json")
	require.NoError(t, err)
	var g imageGolden
	require.NoError(t, json.Unmarshal(b, &g))
	return &g
}

// packImages packs files of testdata/images into records as the script does,
// and writes x.rec, x.idx and x.lst into a folder.
func packImages(t testing.TB, folder string, files []string, width int) {
	t.Helper()
	packLabelled(t, folder, files, func(i int) (record, list []float32) {
		for k := range width {
			record = append(record, float32(i)+float32(k)/4)
			list = append(list, float32(100*k+i)+0.125)
		}
		return record, list
	})
}

// packLabelled packs files with the labels of image i for its record and for
// the list.
func packLabelled(t testing.TB, folder string, files []string, labels func(i int) (record, list []float32)) {
	t.Helper()
	rec, err := os.Create(filepath.Join(folder, "x.rec"))
	require.NoError(t, err)
	idx, err := os.Create(filepath.Join(folder, "x.idx"))
	require.NoError(t, err)
	w, err := recordio.NewIndexedWriter(rec, idx, 0)
	require.NoError(t, err)
	var list []byte
	for i, name := range files {
		content, err := os.ReadFile(filepath.Join("../../testdata/images", name))
		require.NoError(t, err)
		r := imagerecord.Record{ID: uint64(10*i + 3), Content: content}
		item := imagerecord.Item{Index: r.ID, Path: name}
		r.Labels, item.Labels = labels(i)
		r.Listed = len(r.Labels) > 1
		require.NoError(t, w.WriteKey(int64(r.ID), r.Append(nil)))
		list = item.Append(list)
	}
	require.NoError(t, rec.Close())
	require.NoError(t, idx.Close())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "x.lst"), list, 0o600))
}

// imageParams returns the parameters of a case, with paths in the folder.
func imageParams(t testing.TB, folder string, params map[string]any) ImageRecordParams {
	t.Helper()
	text := map[string]string{"path_imgrec": filepath.Join(folder, "x.rec")}
	for k, v := range params {
		switch v := v.(type) {
		case []any:
			text[k] = "(" + strings.Trim(fmt.Sprint(v), "[]") + ")"
			text[k] = strings.ReplaceAll(text[k], " ", ",")
		default:
			text[k] = fmt.Sprint(v)
		}
	}
	for k, name := range map[string]string{"path_imgidx": "x.idx", "path_imglist": "x.lst", "mean_img": "mean.bin"} {
		if v, ok := text[k]; ok && v == "" {
			text[k] = filepath.Join(folder, name)
		}
	}
	p, err := ParseImageRecordParams(text)
	require.NoError(t, err)
	return p
}

func digest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])[:12]
}

// imagesOf reads an epoch.
func imagesOf(t testing.TB, it DataIter) (l []imageBatch, index [][]int64) {
	t.Helper()
	for {
		b, err := it.Next(context.Background())
		if err == io.EOF {
			return l, index
		}
		require.NoError(t, err)
		x := imageBatch{Pad: b.Pad, Labels: slices.Clone(tensor.View[float32](b.Label[0]))}
		n := b.Data[0].Shape.At(0)
		var raw bytes.Buffer // little-endian, as the goldens
		require.NoError(t, tensor.WriteRaw(&raw, b.Data[0]))
		size := raw.Len() / n
		for i := range n {
			x.Images = append(x.Images, digest(raw.Bytes()[i*size:][:size]))
		}
		l, index = append(l, x), append(index, slices.Clone(b.Index))
	}
}

func TestImagesAgainstMXNet(t *testing.T) {
	g := readImageGolden(t)
	require.Greater(t, len(g.Cases), 100)
	images := 0
	step := short.Step(t, 2)
	contexts := []string{"cpu", "gpu"} // equal images
	contexts = contexts[:short.Rounds(t, 2, 1)]
	for n := 0; n < len(g.Cases); n += step {
		c := g.Cases[n]
		t.Run(c.Name, func(t *testing.T) {
			folder := t.TempDir()
			width := 1
			if n, ok := c.Params["label_width"]; ok {
				width = int(n.(float64))
			}
			packImages(t, folder, c.Files, width)
			mean, err := os.ReadFile("testdata/mean.bin")
			require.NoError(t, err)
			if c.Name != "mean image" { // which creates the mean image
				require.NoError(t, os.WriteFile(filepath.Join(folder, "mean.bin"), mean, 0o600))
			}
			p := imageParams(t, folder, c.Params)
			for _, context := range contexts {
				p.Context = context
				it, err := NewImageRecordIter(t.Context(), p)
				require.NoError(t, err)
				got, _ := imagesOf(t, it)
				require.NoError(t, it.Close())
				require.Len(t, got, len(c.Out))
				at := 0
				for i, want := range c.Out {
					b := got[i]
					n := len(want.Images)
					if p.RoundBatch {
						require.Equal(t, want.Pad, b.Pad)
					} else { // MXNet reports 0
						require.Equal(t, p.BatchSize-n, b.Pad)
						b.Images, b.Labels = b.Images[:n], b.Labels[:n*width]
					}
					require.Equal(t, want.Labels, b.Labels, "batch %d", i)
					for k := range want.Images {
						require.Equal(t, want.Images[k], b.Images[k], "%s: batch %d, image %d: %s", context, i, k, c.Files[at%len(c.Files)])
						at++
						images++
					}
				}
			}
			if c.Name == "mean image" {
				got, err := os.ReadFile(filepath.Join(folder, "mean.bin"))
				require.NoError(t, err)
				require.Equal(t, mean, got, "the file as MXNet writes it")
			}
		})
	}
	t.Logf("%d images of %d cases", images, len(g.Cases))
}

// otherDecoder lists the files that MXNet decodes differently, with OpenCV
// 3.4.2 and its libjpeg-turbo. It smooths blocks without DC or AC in another
// way, and chroma of half the height. It has its own formula for CMYK and for
// 16-bit colour to gray. It ignores orientations in EXIF of PNG, in XMP, or of
// a wrong type.
var otherDecoder = regexp.MustCompile(strings.Join([]string{
	`^jpeg_partial_`, `^jpeg_(base|prog)_(440|mixed2?)\.`, `^jpeg_factors_(1x1_1x2_1x2|1x2_1x4_1x1|2x2_2x1_1x2)`, `^jpeg_size_1x2_(16x16|17x33|1x17)`,
	`^jpeg_(cmyk|ycck)`, `^png_(raw_)?(exif|xmp)`, `^jpeg_xmp_`, `^jpeg_exif_(byte|rational)`, `^png_rgba?16.* gray$`,
}, "|"))

func TestDecodeAgainstMXNet(t *testing.T) {
	g := readImageGolden(t)
	require.Len(t, g.Decode, 276)
	equal, of, alike := [2]int{}, [2]int{}, 0
	folder := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(g.Decode)) {
		for k, want := range g.Decode[name] {
			if want == nil {
				continue
			}
			packImages(t, folder, []string{name}, 1)
			p := imageParams(t, folder, map[string]any{
				"data_shape": []any{3 - 2*k, want[0], want[1]}, "batch_size": 1, "dtype": "uint8", "ctx": "cpu",
			})
			it, err := NewImageRecordIter(t.Context(), p)
			require.NoError(t, err)
			of[k]++
			b, err := it.Next(context.Background())
			require.NoError(t, err, name)
			switch same := digest(b.Data[0].Data) == want[2]; {
			case otherDecoder.MatchString(name + []string{"", " gray"}[k]):
				if same {
					alike++
				}
			default:
				require.True(t, same, "%s: other pixels (%d)", name, k)
				equal[k]++
			}
			require.NoError(t, it.Close())
		}
	}
	t.Logf("colour: %d of %d; gray: %d of %d; %d of the others are equal, too", equal[0], of[0], equal[1], of[1], alike)
}
