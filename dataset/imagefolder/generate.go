package imagefolder

//go:generate go run ../../internal/msgpgen

//msgp:limit arrays:1000000
