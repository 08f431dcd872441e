package manifest

//go:generate go run ../../internal/msgpgen

//msgp:limit arrays:4096 maps:1000000
