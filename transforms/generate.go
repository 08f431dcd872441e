package transforms

//go:generate go run ../internal/msgpgen

//msgp:ignore Context Info scratch Frame Scale Draw drawn OpList hsvCircle

// The lists of parameters are short: a value for each channel.
//msgp:limit arrays:4096
