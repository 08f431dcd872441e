package transforms

//go:generate go run ../tools/msgpgen
