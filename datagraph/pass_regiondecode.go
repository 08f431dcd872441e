package datagraph

var regionDecode = passInfo{
	Name: "region-decode",
	Doc:  "only the pixels that a following crop or resize needs are decoded",
	Run:  runRegionDecode,
}

func runRegionDecode(p *Plan) {
	for i := range p.steps {
		if i+1 >= len(p.steps) || !p.feeds(i) {
			continue
		}
		if op := p.regionCut(i); op != nil {
			p.replace(i, 2, op, RegionDecode)
			continue
		}
		f, next := p.part(i), p.part(i+1)
		if f == nil || f.decode == nil || next == nil || !next.cuts() {
			continue
		}
		if both := join(f, next); both != nil {
			both.region = true
			p.replace(i, 2, both, RegionDecode)
		}
	}
}
