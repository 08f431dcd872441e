package transforms

//go:generate go tool msgp -file . -o msgp_gen.go -io=false -tests=false

//msgp:ignore Context Info scratch
