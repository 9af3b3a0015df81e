package headless

import "strings"

// maxDiff bounds the lines of one side that are compared one by one; longer texts are
// shown whole, the old one and then the new one.
const maxDiff = 2000

// difference shows two texts line by line: "- " only before, "+ " only now, "  " in both.
// It is the shortest such list (longest common subsequence), and nothing is left out.
func difference(before, now string) []string {
	a, b := strings.Split(before, "\n"), strings.Split(now, "\n")
	var out []string
	if len(a) > maxDiff || len(b) > maxDiff {
		for _, l := range a {
			out = append(out, "- "+l)
		}
		for _, l := range b {
			out = append(out, "+ "+l)
		}
		return out
	}
	length := make([][]uint16, len(a)+1) // length[i][j]: common lines of a[i:] and b[j:]
	for i := range length {
		length[i] = make([]uint16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return out
}
