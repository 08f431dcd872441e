//go:build wasip1 && !full && !own

package main

import _ "github.com/infer-prep/infer-prep/transforms/classification" // the ops, unless build.sh got a list of its own
