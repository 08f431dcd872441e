//go:build !unix || aix || solaris

package main

import "errors"

func namedPipe(string) error { return errors.ErrUnsupported }
