package cifar10

//go:generate go run ../../internal/msgpgen
