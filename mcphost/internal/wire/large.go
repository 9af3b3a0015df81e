package wire

import "fmt"

// ReadError reads the member "error" of an answer, however it is written.
func ReadError(v []byte) *Error { return readError(v) }

// TooLarge takes the beginning of a message that is above the limit, of which a
// transport has kept no more. Where it is an answer, the request it names, or the only
// one that is open, has failed; what In returns, it returns for that one.
func (t *Tap) TooLarge(begin []byte) [][]byte {
	defer t.recovered("the beginning of a message")
	var id []byte
	asks := false
	members(begin, func(name string, v []byte) bool {
		switch name {
		case "id":
			id = v
		case "method":
			asks = true
		}
		return true
	})
	if t.noteLarge(begin); asks {
		return nil
	}
	return t.failLarge(string(id))
}

func (t *Tap) noteLarge(begin []byte) {
	t.reportNoise(fmt.Appendf(nil, "a message of more than %s: %.200s", SizeText(t.o.MaxFrame), begin))
}

func (t *Tap) failLarge(id string) [][]byte {
	return t.fail(id, true, fmt.Sprintf("the server's answer is larger than %s, which is the most that is accepted", SizeText(t.o.MaxFrame)))
}
