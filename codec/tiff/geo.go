package tiff

import (
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// Geo holds what the tags of GeoTIFF 1.1 and of GDAL say about an image.
//
// Reference: GDAL 3.10.3 (through rasterio 1.4.4).
type Geo struct {
	// Transform maps pixels to coordinates, in GDAL's order: column c and row r
	// of a pixel's upper left corner are at x = Transform[0] + c*Transform[1] +
	// r*Transform[2] and y = Transform[3] + c*Transform[4] + r*Transform[5]. It
	// is valid if HasTransform is true. If the file's raster type is
	// PixelIsPoint, half a pixel has been subtracted.
	Transform    [6]float64
	HasTransform bool
	// EPSG is the code of the coordinate reference system, projected or else
	// geographic. 0 if the file has none or describes it by parameters.
	EPSG int
	// NoData is the value of samples without data, NaN included. It is valid if
	// HasNoData is true.
	NoData    float64
	HasNoData bool
	Bands     []Band // one for each band
	Keys      GeoKeys
}

// Window returns the transform of a window whose first pixel is at (left, top),
// rounded as window_transform of rasterio does. Without HasTransform, x and y
// are columns and rows of the image.
func (g *Geo) Window(left, top int) [6]float64 {
	t := [6]float64{0, 1, 0, 0, 0, 1}
	if g.HasTransform {
		t = g.Transform
	}
	c, r := float64(left), float64(top)
	x := float64(float64(c*t[1])+float64(r*t[2])) + t[0]
	y := float64(float64(c*t[4])+float64(r*t[5])) + t[3]
	t[0] += x - t[0]
	t[3] += y - t[3]
	return t
}

// GeoKeys holds the tags of GeoTIFF that describe the coordinate reference
// system, as they stand in the file: GeoKeyDirectory, GeoDoubleParams and
// GeoAsciiParams. They are empty if the file has none.
type GeoKeys struct {
	Directory []uint16
	Doubles   []float64
	ASCII     string // all texts, each with a | after it
}

// Band describes a band. Values are sample*Scale + Offset.
type Band struct {
	Name   string // GDAL's description, "" if the file has none
	Scale  float64
	Offset float64
}

// Tags of GeoTIFF and GDAL.
const (
	tagPixelScale   = 33550
	tagTiepoints    = 33922
	tagTransform    = 34264
	tagGeoKeys      = 34735
	tagGeoDoubles   = 34736
	tagGeoASCII     = 34737
	tagGDALMetadata = 42112
	tagGDALNoData   = 42113
)

// GeoTIFF's keys and their values.
const (
	keyRasterType   = 1025
	keyGeographic   = 2048
	keyProjected    = 3072
	rasterIsPoint   = 2
	userDefinedCode = 32767
)

// Geo reads the image's tags of GeoTIFF and GDAL. Tags that are missing or
// malformed leave their fields zero, as in GDAL. An overview has the transform
// of the image that it reduces, with larger pixels. The caller must not change
// Bands and Keys.
func (i *Image) Geo() (Geo, error) {
	if _, err := i.Info(); err != nil {
		return Geo{}, err
	}
	g, err := i.ownGeo()
	if err != nil {
		return Geo{}, err
	}
	if g.HasTransform || !i.info.Reduced {
		return g, nil
	}
	// Of the last image before that is none.
	var full *Image
	for n := 0; ; n++ {
		k, err := i.r.Image(n)
		if err == io.EOF || k == i {
			break
		}
		if err != nil {
			return Geo{}, err
		}
		if k.dir.get(tagSubfileType, 0)&(reducedImage|maskImage) == 0 {
			full = k
		}
	}
	if full == nil {
		return g, nil
	}
	f, err := full.Info()
	if err != nil {
		return Geo{}, err
	}
	base, err := full.ownGeo()
	if err != nil {
		return Geo{}, err
	}
	if g.HasTransform = base.HasTransform; g.HasTransform {
		g.Transform = base.Transform
		x, y := float64(f.Width)/float64(i.info.Width), float64(f.Height)/float64(i.info.Height)
		g.Transform[1] = float64(g.Transform[1] * x)
		g.Transform[2] = float64(g.Transform[2] * y)
		g.Transform[4] = float64(g.Transform[4] * x)
		g.Transform[5] = float64(g.Transform[5] * y)
	}
	if g.EPSG == 0 {
		g.EPSG = base.EPSG
	}
	if len(g.Keys.Directory) == 0 {
		g.Keys = base.Keys
	}
	if !g.HasNoData {
		g.NoData, g.HasNoData = base.NoData, base.HasNoData
	}
	if len(base.Bands) == len(g.Bands) {
		g.Bands = base.Bands
	}
	return g, nil
}

// ownGeo returns what the image's own tags say. Info must have been called.
func (i *Image) ownGeo() (Geo, error) {
	i.geoOnce.Do(func() { i.geoErr = i.readGeo() })
	return i.geo, i.geoErr
}

// noData returns the value of samples without data.
func (d *directory) noData() (v float64, ok bool) {
	s := d.text(tagGDALNoData)
	if s == "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil || math.IsInf(v, 0)
}

// readGeo reads the tags of GeoTIFF and GDAL.
func (i *Image) readGeo() error {
	t, g := &i.dir, &i.geo
	if err := t.load(&i.r.limits, tagPixelScale, tagTiepoints, tagTransform, tagGeoKeys, tagGeoDoubles, tagGeoASCII, tagGDALMetadata); err != nil {
		return err
	}
	point := false
	keys := t.tags[tagGeoKeys]
	if keys.typ != typeShort {
		keys = values{}
	}
	for k := range keys.len() {
		g.Keys.Directory = append(g.Keys.Directory, uint16(keys.at(k, 0)))
	}
	g.Keys.Doubles, g.Keys.ASCII = t.doubles(tagGeoDoubles, math.MaxInt), t.text(tagGeoASCII)
	projected, geographic := 0, 0
	for k := range int(keys.at(3, 0)) {
		// Key, the tag of its value (0: the value itself), count, value.
		at := 4 + 4*k
		if at+3 >= keys.len() {
			break
		}
		if keys.at(at+1, 0) != 0 {
			continue
		}
		switch v := int(keys.at(at+3, 0)); keys.at(at, 0) {
		case keyRasterType:
			point = v == rasterIsPoint
		case keyGeographic:
			geographic = v
		case keyProjected:
			projected = v
		}
	}
	if g.EPSG = projected; projected == 0 {
		g.EPSG = geographic
	}
	if g.EPSG == userDefinedCode {
		g.EPSG = 0
	}
	scale, ties, matrix := t.doubles(tagPixelScale, 3), t.doubles(tagTiepoints, 6), t.doubles(tagTransform, 16)
	switch {
	case len(scale) >= 2 && scale[0] != 0 && scale[1] != 0 && len(ties) >= 6:
		x, y := scale[0], -math.Abs(scale[1])
		g.Transform = [6]float64{ties[3] - float64(ties[0]*x), x, 0, ties[4] - float64(ties[1]*y), 0, y}
		g.HasTransform = true
	case len(matrix) == 16:
		g.Transform = [6]float64{matrix[3], matrix[0], matrix[1], matrix[7], matrix[4], matrix[5]}
		g.HasTransform = true
	}
	if point && g.HasTransform {
		m := &g.Transform
		m[0] -= float64(m[1]*0.5) + float64(m[2]*0.5)
		m[3] -= float64(m[4]*0.5) + float64(m[5]*0.5)
	}
	g.NoData, g.HasNoData = t.noData()
	g.Bands = make([]Band, i.info.Bands)
	for k := range g.Bands {
		g.Bands[k].Scale = 1
	}
	items(t.text(tagGDALMetadata), func(attr map[string]string, text string) {
		k, err := strconv.Atoi(attr["sample"])
		if err != nil || k < 0 || k >= len(g.Bands) {
			return
		}
		b := &g.Bands[k]
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		switch role := attr["role"]; {
		case role == "description":
			b.Name = text
		case role == "scale" && err == nil:
			b.Scale = v
		case role == "offset" && err == nil:
			b.Offset = v
		}
	})
	return nil
}

// doubles returns at most n values of a tag of doubles.
func (d *directory) doubles(tag uint16, n int) []float64 {
	v := d.tags[tag]
	if v.typ != typeDouble || len(v.data) < v.n {
		return nil
	}
	list := make([]float64, min(n, v.len()))
	for i := range list {
		list[i] = math.Float64frombits(v.at64(i))
	}
	return list
}

// text returns the text of a tag.
func (d *directory) text(tag uint16) string {
	v := d.tags[tag]
	if v.typ != typeASCII || len(v.data) < v.n {
		return ""
	}
	s, _, _ := strings.Cut(string(v.data[:v.n]), "\x00")
	return strings.TrimSpace(s)
}

// sample returns v as a sample of the image, nil if that is 0. Integers are
// rounded and limited to the range of their type.
func (i *Image) sample(v float64) []byte {
	b := make([]byte, i.l.sampleSize())
	if v == 0 {
		return nil
	}
	integer := func(lo, hi float64) float64 {
		if v != v {
			return 0
		}
		return min(max(math.RoundToEven(v), lo), hi)
	}
	switch i.info.Type {
	case "uint8":
		b[0] = uint8(integer(0, math.MaxUint8))
	case "int8":
		b[0] = uint8(int8(integer(math.MinInt8, math.MaxInt8)))
	case "uint16":
		binary.NativeEndian.PutUint16(b, uint16(integer(0, math.MaxUint16)))
	case "int16":
		binary.NativeEndian.PutUint16(b, uint16(int16(integer(math.MinInt16, math.MaxInt16))))
	case "uint32":
		binary.NativeEndian.PutUint32(b, uint32(integer(0, math.MaxUint32)))
	case "int32":
		binary.NativeEndian.PutUint32(b, uint32(int32(integer(math.MinInt32, math.MaxInt32))))
	case "uint64":
		u := uint64(math.MaxUint64)
		if f := integer(0, 1<<64); f < 1<<64 {
			u = uint64(f)
		}
		binary.NativeEndian.PutUint64(b, u)
	case "int64":
		n := int64(math.MaxInt64)
		if f := integer(math.MinInt64, 1<<63); f < 1<<63 {
			n = int64(f)
		}
		binary.NativeEndian.PutUint64(b, uint64(n))
	case "float16":
		binary.NativeEndian.PutUint16(b, tensor.Float16FromFloat64(v))
	case "float32":
		binary.NativeEndian.PutUint32(b, math.Float32bits(float32(v)))
	case "float64":
		binary.NativeEndian.PutUint64(b, math.Float64bits(v))
	}
	return b
}

// items calls f for each element Item of GDAL's metadata, an XML text: with its
// attributes and its text.
func items(xml string, f func(attr map[string]string, text string)) {
	for {
		_, rest, ok := strings.Cut(xml, "<Item ")
		if !ok {
			return
		}
		head, rest, ok := strings.Cut(rest, ">")
		if !ok {
			return
		}
		xml = rest
		if strings.HasSuffix(head, "/") {
			continue
		}
		text, _, ok := strings.Cut(rest, "</Item>")
		if !ok {
			return
		}
		attr := map[string]string{}
		for {
			name, value, ok := strings.Cut(head, `="`)
			if !ok {
				break
			}
			var v string
			if v, head, ok = strings.Cut(value, `"`); !ok {
				break
			}
			attr[strings.TrimSpace(name)] = entities.Replace(v)
		}
		f(attr, entities.Replace(entities.Replace(text))) // GDAL escapes texts twice
	}
}

// entities replaces XML's entities.
var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")
