//go:build small

package codec

// In the small build of the npm package only JPEG decodes rows.
func (*rowConverter) colors(RowDecoder) (keys bool, err error) { return false, nil }
