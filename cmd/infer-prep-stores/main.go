// Command infer-prep-stores is infer-prep with all stores, for names such as
// s3://BUCKET/KEY:
//
//	infer-prep-stores records ls s3://bucket/train-000.tar
package main

import (
	"github.com/infer-prep/infer-prep/cmd/internal/cli"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/transforms/plugin"

	// The rest of the default program.
	_ "github.com/infer-prep/infer-prep/device/ort"

	// The stores. Each registers the schemes of its names.
	_ "github.com/infer-prep/infer-prep/store/azure"
	_ "github.com/infer-prep/infer-prep/store/gcs"
	_ "github.com/infer-prep/infer-prep/store/hdfs"
	_ "github.com/infer-prep/infer-prep/store/s3"
)

func init() { command.Program, cli.AllowPlugin = "infer-prep-stores", plugin.Allow }

func main() { cli.Main() }
