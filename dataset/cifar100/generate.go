package cifar100

//go:generate go run ../../internal/msgpgen
