package text

import "fyne.io/fyne/v2"

// layoutTable gives each column its natural width as long as the table fits; else the narrow columns keep theirs and
// the wide ones share the rest, their cells being broken into lines.
func (p *para) layoutTable() {
	columns := 0
	for _, row := range p.b.Table.Rows {
		columns = max(columns, len(row))
	}
	p.rows = p.rows[:0]
	p.body = 0
	if columns == 0 {
		p.columns = nil
		return
	}
	p.columns = share(p.naturalColumns(columns), p.inner)
	h := 0
	var y float32
	for _, row := range p.b.Table.Rows {
		p.rows = append(p.rows, y)
		var x, tallest float32
		for c := range row {
			lines := p.cellLines(&p.hard[h], h, x, p.columns[c], y+cellPadY)
			tallest = max(tallest, float32(lines)*p.lineHeight)
			x += p.columns[c]
			h++
		}
		y += max(tallest, p.lineHeight) + 2*cellPadY + 1
	}
	p.rows = append(p.rows, y)
	p.body = y
}

func (p *para) naturalColumns(columns int) []float32 {
	widths := make([]float32, columns)
	h := 0
	for i, row := range p.b.Table.Rows {
		if i >= tableLook {
			break
		}
		for c := range row {
			widths[c] = max(widths[c], p.naturalOf(&p.hard[h])+2*cellPadX+1)
			h++
		}
	}
	for c := range widths {
		widths[c] = max(widths[c], minColumn)
	}
	return widths
}

// share fits widths into room.
func share(widths []float32, room float32) []float32 {
	var sum float32
	for _, w := range widths {
		sum += w
	}
	if sum <= room {
		return widths
	}
	left, wide := room, len(widths)
	fixed := make([]bool, len(widths))
	for again := true; again && wide > 0; {
		again = false
		for c, w := range widths {
			if !fixed[c] && w <= left/float32(wide) {
				fixed[c], again = true, true
				left -= w
				wide--
			}
		}
	}
	for c := range widths {
		if !fixed[c] {
			widths[c] = max(left/float32(wide), 1)
		}
	}
	return widths
}

func (p *para) cellLines(h *hardLine, index int, x, width, y float32) int {
	if h.units == nil {
		h.units = unitsOf(p.plain, p.spans, h.start, h.end)
	}
	from := len(p.lines)
	room := max(width-2*cellPadX, 1)
	p.lines = p.fill(h, room, p.lines)
	for k := from; k < len(p.lines); k++ {
		l := &p.lines[k]
		l.hard, l.x, l.right = int32(index), x+cellPadX, x+width-cellPadX
		l.y = y + float32(k-from)*p.lineHeight
	}
	return len(p.lines) - from
}

// align moves a line inside its column.
func (p *para) align(l *line) float32 {
	t := p.b.Table
	if t == nil || len(t.Align) == 0 {
		return 0
	}
	h := int(l.hard)
	for _, row := range t.Rows[:1] { // all rows of a table have as many cells as its head
		if len(row) > 0 {
			h %= len(row)
		}
	}
	if h >= len(t.Align) || t.Align[h] == fyne.TextAlignLeading {
		return 0
	}
	gap := max(l.right-l.x-p.lineWidth(l), 0)
	if t.Align[h] == fyne.TextAlignCenter {
		return gap / 2
	}
	return gap
}
