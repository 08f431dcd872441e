//go:build small

package transforms

// bandOps is false: small builds leave out the ops on the bands of scenes.
const bandOps = false
