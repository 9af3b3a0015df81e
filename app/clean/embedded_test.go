package clean

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEmbedded(t *testing.T) {
	t.Parallel()
	const data = "QUJD+/8=QUJDQUJDQUJD"
	line := strings.Repeat("QUJD", 19)
	inJSON := func(s string) string {
		b, err := json.Marshal(map[string]string{"a": s})
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(b), "/", `\/`)
	}
	address := "data:image/PNG;name=x;base64," + data
	for text, want := range map[string]string{
		address:                         "<image/png|" + data + ">",
		"see " + address + ", and more": "see <image/png|" + data + ">, and more",
		"a " + address + " " + address:  "a <image/png|" + data + "> <image/png|" + data + ">",
		inJSON(address):                 `{"a":"<image/png|` + data + `>"}`,
		inJSON(inJSON(inJSON(address))): strings.Replace(inJSON(inJSON(inJSON("@"))), "@", "<image/png|"+data+">", 1),
		`data:;base64,` + data:          "<|" + data + ">",
		`data:audio\u002fwav;base64,` + strings.NewReplacer("+", `\u002B`, "/", "%2F").Replace(data) + `\"`: `<audio/wav|` + data + `>\"`,
		`data:image/png;base64,QUJDQUJD\nQUJDQUJD\r\nQUJD` + "\n":                                           "<image/png|QUJDQUJDQUJDQUJDQUJD>\n",
		"data:image/png;base64,QUJD":                                         "data:image/png;base64,QUJD", // too short to matter
		"data: of base64,QUJDQUJDQUJDQUJDQUJDQUJD":                           "data: of base64,QUJDQUJDQUJDQUJDQUJDQUJD",
		"base64,QUJDQUJDQUJDQUJDQUJDQUJD and base64,":                        "base64,QUJDQUJDQUJDQUJDQUJDQUJD and base64,",
		"data:image/png;base64," + line + "\r\n" + line + "\nQUJD\nand text": "<image/png|" + line + line + "QUJD>\nand text",
		`C:\new\rest`: `C:\new\rest`,
	} {
		if got := Embedded(text, func(media, encoded string) string { return "<" + media + "|" + encoded + ">" }); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
