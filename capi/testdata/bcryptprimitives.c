/* bcryptprimitives.c: the function of Windows' bcryptprimitives.dll that Go's
 * runtime takes random numbers from, for Wine 8, which lacks the DLL. */
#include <stddef.h>

__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *, unsigned long); /* RtlGenRandom */

__declspec(dllexport) int __stdcall ProcessPrng(void *data, size_t n);

int __stdcall ProcessPrng(void *data, size_t n) { return SystemFunction036(data, (unsigned long)n); }
