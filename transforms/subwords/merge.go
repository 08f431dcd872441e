package subwords

// symbol is a part of a text. Those that remain are a list.
type symbol struct {
	from, to   int // in the text; empty after a merge into the one before
	prev, next int // -1 for none
	id         int32
	frozen     bool // never merged
}

// pair is a possible merge of a symbol and the next one.
type pair struct {
	left, right int
	size        int   // bytes of both
	id          int32 // of the merged piece
	rank        float64
}

// agenda is a heap of pairs: the lowest rank first, and of these the first in
// the text. Package container/heap would allocate for each.
type agenda []pair

func (a agenda) less(i, j int) bool {
	return a[i].rank < a[j].rank || a[i].rank == a[j].rank && a[i].left < a[j].left
}

func (a *agenda) push(p pair) {
	*a = append(*a, p)
	h := *a
	for i := len(h) - 1; i > 0 && h.less(i, (i-1)/2); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (a *agenda) pop() pair {
	h := *a
	top, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < n; k++ {
			if h.less(k, least) {
				least = k
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	*a = h
	return top
}

// merge merges w.links. find returns the id and the rank of two symbols as one;
// still reports whether a pair is what its symbols are now, beside their sizes.
func (w *work) merge(find func(l, r *symbol) (id int32, rank float64, ok bool), still func(p *pair, l, r *symbol) bool) {
	w.agenda = w.agenda[:0]
	add := func(left, right int) {
		if left < 0 || right < 0 {
			return
		}
		l, r := &w.links[left], &w.links[right]
		if l.frozen || r.frozen {
			return
		}
		if id, rank, ok := find(l, r); ok {
			w.agenda.push(pair{left, right, r.to - l.from, id, rank})
		}
	}
	for i := 1; i < len(w.links); i++ {
		add(i-1, i)
	}
	for len(w.agenda) > 0 {
		p := w.agenda.pop()
		l, r := &w.links[p.left], &w.links[p.right]
		if l.from == l.to || r.from == r.to || r.to-l.from != p.size || l.next != p.right || !still(&p, l, r) {
			continue
		}
		l.to, l.next, l.id = r.to, r.next, p.id
		if r.next >= 0 {
			w.links[r.next].prev = p.left
		}
		r.from = r.to
		add(l.prev, p.left)
		add(p.left, l.next)
	}
}
