package jpeg

import "github.com/infer-prep/infer-prep/codec"

// The tests use the decoder without package codec. These helpers do what codec
// does before it calls a decoder: they fill in default limits and open the
// image.

func (d *decoder) openData(data []byte, o *codec.Options) (codec.Config, error) {
	o.Limits = o.Limits.WithDefaults()
	return d.Open(data, o)
}

func (d *decoder) decodeData(dst *codec.Raster, data []byte, o *codec.Options) error {
	if _, err := d.openData(data, o); err != nil {
		return err
	}
	return d.Decode(dst)
}

func (d *decoder) decodeRowsOf(sink codec.RowSink, region codec.Region, data []byte, o *codec.Options) (damaged, err error) {
	if _, err := d.openData(data, o); err != nil {
		return nil, err
	}
	return d.DecodeRows(sink, region)
}
