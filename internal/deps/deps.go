// Package deps holds the module's requirements while the packages that use them are being written.
package deps

import (
	_ "github.com/disintegration/gift"
	_ "github.com/gen2brain/jpegli"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/cobra/doc"
	_ "github.com/stretchr/testify/require"
	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
	_ "golang.org/x/sys/cpu"
	_ "golang.org/x/term"
)
