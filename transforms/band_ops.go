//go:build !small

package transforms

// bandOps reports whether the build has the ops on the bands of scenes.
const bandOps = true
