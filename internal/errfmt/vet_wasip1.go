package errfmt

// See vet.go. Even an import of fmt would be linked into the WebAssembly build.

func checkErrorf(string, ...any) {}
func checkPrintf(string, ...any) {}
