package mnist

//go:generate go run ../../internal/msgpgen
