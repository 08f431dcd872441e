// Command infer-prep-full is infer-prep with all parts: the stores of the
// clouds and of HDFS, for names such as s3://BUCKET/KEY, Parquet and Arrow
// files, and the encoder jpegli. They have large dependencies, which infer-prep
// does without.
//
//	infer-prep-full records ls s3://bucket/train-000.tar
//	infer-prep-full pack recordio --encoder jpegli train photos
package main

import (
	"github.com/infer-prep/infer-prep/cmd/internal/cli"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/transforms/plugin"

	// The rest of the light program.
	_ "github.com/infer-prep/infer-prep/codec/avif"
	_ "github.com/infer-prep/infer-prep/codec/heif"
	_ "github.com/infer-prep/infer-prep/codec/jp2"
	_ "github.com/infer-prep/infer-prep/codec/jxl"
	_ "github.com/infer-prep/infer-prep/device/ort"

	// The encoder of pack --encoder jpegli.
	_ "github.com/infer-prep/infer-prep/codec/jpegli"

	// The sources and record formats of tables.
	_ "github.com/infer-prep/infer-prep/dataset/columnar/arrow"
	_ "github.com/infer-prep/infer-prep/dataset/columnar/lerobot"
	_ "github.com/infer-prep/infer-prep/dataset/columnar/parquet"

	// The stores. Each registers the schemes of its names.
	_ "github.com/infer-prep/infer-prep/store/azure"
	_ "github.com/infer-prep/infer-prep/store/gcs"
	_ "github.com/infer-prep/infer-prep/store/hdfs"
	_ "github.com/infer-prep/infer-prep/store/s3"
)

func init() { command.Program, cli.AllowPlugin = command.FullProgram, plugin.Allow }

func main() { cli.Main() }
