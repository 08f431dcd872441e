package generator

//go:generate go run ../../internal/msgpgen
