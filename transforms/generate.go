package transforms

//go:generate go run ../tools/msgpgen
//go:generate go run ../tools/oplist -all -o ops_gen.go
