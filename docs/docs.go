// Package docs holds the pages that programs print.
package docs

import _ "embed"

// Ops is ops.md, the page of the ops.
//
//go:embed ops.md
var Ops string

// Nodes is nodes.md, the page of the nodes of datasets.
//
//go:embed nodes.md
var Nodes string
