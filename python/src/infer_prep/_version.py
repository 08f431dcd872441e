"""The version of the package; it is that of the Go module."""

VERSION = "0.0.0"
