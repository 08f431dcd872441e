package transforms

//go:generate go tool msgp -file . -o msgp_gen.go -io=false -tests=false

//msgp:ignore Context Info scratch

// The lists of parameters are short: a value for each channel.
//msgp:limit arrays:4096
