// Package exactmath computes functions of package math with the same bits on
// every platform: rounded correctly, or as a reference computes them. Package
// math has assembly for some functions on some platforms.
package exactmath
