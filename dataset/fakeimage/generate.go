package fakeimage

//go:generate go run ../../internal/msgpgen
