package numpyslices

//go:generate go run ../../internal/msgpgen

//msgp:limit arrays:65536
