//go:build !((darwin && (amd64 || arm64)) || (freebsd && (386 || amd64 || arm || arm64)) || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64 || s390x)) || (openbsd && (amd64 || arm64)) || (netbsd && amd64) || (windows && (386 || amd64 || arm64)))

package mindrecord

import "fmt"

const ported = false

func (d *data) writeIndex(name string) error {
	return fmt.Errorf("mindrecord: %s: %w", name, ErrPlatform)
}
