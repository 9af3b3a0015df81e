package wire

import "fmt"

// ReadError reads the member "error" of an answer, however it is written.
func ReadError(v []byte) *Error { return readError(v) }

// TooLarge takes the beginning of a message that is above the limit, of which a
// transport has kept no more. Where it is an answer, the request it names, or the only
// one that is open, has failed; what In returns, it returns for that one.
func (t *Tap) TooLarge(begin []byte) [][]byte {
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
	t.reportNoise(fmt.Appendf(nil, "message of more than %d bytes: %.200s", t.o.MaxFrame, begin))
	if asks {
		return nil
	}
	return t.fail(string(id), true, "the server's answer is larger than "+SizeText(t.o.MaxFrame))
}
