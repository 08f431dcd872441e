package csv

//go:generate go run ../../internal/msgpgen

//msgp:limit arrays:1000000 maps:4096
