package codec

// placement returns where pixels of n bytes of a stored w x h image go in the
// upright image: pixel (x, y) goes to byte origin + x*dx + y*dy.
func placement(orientation, w, h, n int) (origin, dx, dy int) {
	right, down := n, w*n // a step right and down in the upright image
	if orientation >= 5 {
		down = h * n
	}
	lastX, lastY := w-1, h-1
	switch orientation {
	case 2: // mirrored
		return lastX * right, -right, down
	case 3: // rotated by 180 degrees
		return lastX*right + lastY*down, -right, -down
	case 4: // upside down, mirrored
		return lastY * down, right, -down
	case 5: // transposed
		return 0, down, right
	case 6: // rotate by 90 degrees clockwise
		return lastY * right, down, -right
	case 7: // transposed along the anti-diagonal
		return lastY*right + lastX*down, -down, -right
	case 8: // rotate by 90 degrees counter-clockwise
		return lastX * down, -down, right
	}
	return 0, right, down
}
