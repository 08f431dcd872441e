package celeba

//go:generate go run ../../internal/msgpgen
