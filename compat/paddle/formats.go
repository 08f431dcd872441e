package paddle

import (
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/csv"
	"github.com/infer-prep/infer-prep/dataset/imagerecord"
	"github.com/infer-prep/infer-prep/dataset/tfrecord"
	"github.com/infer-prep/infer-prep/dataset/webdataset"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	for _, tag := range []string{"recordio", "rec"} {
		RegisterFileReader(tag, openRecordIO)
	}
	for _, tag := range []string{"tfrecord", "tfrecords"} {
		RegisterFileReader(tag, func(path string, _ []dataset.Column) (dataset.Source, error) { return tfrecord.New(path), nil })
	}
	for _, tag := range []string{"shards", "tar"} {
		RegisterFileReader(tag, openShards)
	}
	RegisterFileReader("csv", openCSV)
}

// openRecordIO returns the source of image records: image, label, id. The size
// of the required label is the number of labels.
func openRecordIO(path string, columns []dataset.Column) (dataset.Source, error) {
	s := imagerecord.New(path)
	for _, c := range columns {
		if n := c.Desc.Shape; c.Name == "label" && n.Rank() == 1 && n.At(0) > 0 {
			s.LabelWidth = n.At(0)
		}
	}
	return s, nil
}

// openShards returns the source of a shard: the column image or label as
// webdataset.New has it, any other of the field with its name.
func openShards(path string, columns []dataset.Column) (dataset.Source, error) {
	usual := webdataset.New(path)
	s := &webdataset.WebDataset{Shards: usual.Shards}
	for _, c := range columns {
		field, kind := []string{c.Name}, "npy"
		for i, name := range usual.ColumnNames {
			if name == c.Name {
				field = usual.Fields[i]
			}
		}
		switch {
		case c.Desc.DType == tensor.Bytes:
			kind = "bytes"
		case c.Desc.DType == tensor.Int64 && c.Desc.Shape.Rank() == 0:
			kind = "int"
		}
		s.ColumnNames, s.Fields, s.ColumnTypes = append(s.ColumnNames, c.Name), append(s.Fields, field), append(s.ColumnTypes, kind)
	}
	return s, nil
}

// openCSV returns the source of a file with a header, whose columns have the
// required types.
func openCSV(path string, columns []dataset.Column) (dataset.Source, error) {
	s := csv.New(path)
	for _, c := range columns {
		s.ColumnTypes = append(s.ColumnTypes, c.Desc.DType)
	}
	return s, nil
}
