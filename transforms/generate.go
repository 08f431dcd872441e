package transforms

//go:generate go run ../internal/msgpgen

//msgp:ignore Context Info scratch Frame Scale Draw drawn OpList hsvCircle

// Lists of parameters are short: one value per channel.
//msgp:limit arrays:4096
