package exactmath

import "math"

// Homography returns the coefficients of the perspective map that takes each
// point of from to the point of to at the same place:
//
//	x = (c0*u + c1*v + c2) / (c6*u + c7*v + 1)
//	y = (c3*u + c4*v + c5) / (c6*u + c7*v + 1)
//
// Points are pairs of x and y. It computes in pairs of float64s and rounds at
// the end. A coefficient below 2^-80 of the largest one is 0. ok is false if no
// map or more than one map takes the points there.
func Homography(from, to *[8]float64) (c [8]float64, ok bool) {
	// Rows of eight unknowns and a right side, in pairs of numbers.
	var m [8][9]pair
	for i := range 4 {
		u, v, x, y := from[2*i], from[2*i+1], to[2*i], to[2*i+1]
		one := pair{1, 0}
		m[2*i] = [9]pair{{u, 0}, {v, 0}, one, {}, {}, {}, product(-x, u), product(-x, v), {x, 0}}
		m[2*i+1] = [9]pair{{}, {}, {}, {u, 0}, {v, 0}, one, product(-y, u), product(-y, v), {y, 0}}
	}
	// The pivots are the largest elements relative to their rows.
	var size [8]float64
	for i := range m {
		for _, v := range m[i][:8] {
			size[i] = max(size[i], math.Abs(v.h))
		}
	}
	for k := range 8 {
		p := k
		for i := k; i < 8; i++ {
			if float64(math.Abs(m[i][k].h)*size[p]) > float64(math.Abs(m[p][k].h)*size[i]) {
				p = i
			}
		}
		if !(math.Abs(m[p][k].h) > float64(size[p]*0x1p-80)) {
			return c, false
		}
		m[k], m[p], size[k], size[p] = m[p], m[k], size[p], size[k]
		for i := k + 1; i < 8; i++ {
			f := m[i][k].divided(m[k][k])
			for j := k + 1; j < 9; j++ {
				m[i][j] = m[i][j].minus(f.times(m[k][j]))
			}
		}
	}
	largest := 0.0
	for k := 7; k >= 0; k-- {
		for j := k + 1; j < 8; j++ {
			m[k][8] = m[k][8].minus(m[k][j].times(m[j][8]))
		}
		m[k][8] = m[k][8].divided(m[k][k])
		largest = max(largest, math.Abs(m[k][8].h))
	}
	for k := range c {
		if v := m[k][8]; math.Abs(v.h) > float64(largest*0x1p-80) {
			c[k] = v.h + v.l
		}
	}
	return c, true
}

// product returns a*b.
func product(a, b float64) pair {
	h, l := twoProd(a, b)
	return pair{h, l}
}

// minus returns a-b.
func (a pair) minus(b pair) pair {
	h, l := twoSum(a.h, -b.h)
	return quick(h, l+(a.l-b.l))
}

// divided returns a/b.
func (a pair) divided(b pair) pair {
	q := a.h / b.h
	r := a.minus(b.times(pair{q, 0}))
	return quick(q, (r.h+r.l)/b.h)
}
