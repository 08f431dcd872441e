package tensor

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of a large page of x86-64, and of arm64 with pages of
// 4 KiB.
const hugePage = 2 << 20

// largePages asks the kernel for large pages for the part of b that has whole
// ones. Each page that is written for the first time costs the kernel time:
// 19 MB are 4,750 pages of 4 KiB. The request has an effect where
// /sys/kernel/mm/transparent_hugepage/enabled is madvise, the usual setting.
// The kernel may ignore it.
func largePages(b []byte) {
	if len(b) < 2*hugePage {
		return
	}
	skip := int(-uintptr(unsafe.Pointer(&b[0])) % hugePage)
	_ = syscall.Madvise(b[skip:][:(len(b)-skip)/hugePage*hugePage], syscall.MADV_HUGEPAGE)
}
