//go:build small

package png

const partial = false
