package mcphost_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// TestIcons reads icons of every kind: only what stands in the offer itself and is a picture of bearable size is one, and
// nothing is fetched.
func TestIcons(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	defer web.Close()
	var p, j bytes.Buffer
	img := image.NewRGBA(image.Rect(0, 0, 8, 8))
	if err := png.Encode(&p, img); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&j, img, nil); err != nil {
		t.Fatal(err)
	}
	huge := bytes.Clone(p.Bytes())
	binary.BigEndian.PutUint32(huge[16:], 30_000)
	binary.BigEndian.PutUint32(huge[20:], 30_000)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	data := func(mime string, b []byte) string {
		return fmt.Sprintf(`{"src":"data:%s;base64,%s","mimeType":"%s"}`, mime, base64.StdEncoding.EncodeToString(b), mime)
	}
	tests := []struct{ icons, kind, said string }{
		{`[` + data("image/png", p.Bytes()) + `]`, "image/png", ""},
		{`[` + data("image/svg+xml", j.Bytes()) + `]`, "image/jpeg", ""}, // by its bytes
		{`[{"src":"DATA:image/png,` + url.PathEscape(p.String()) + `"}]`, "image/png", ""},
		{`[{"src":"` + web.URL + `/icon.png"},{"src":"file:///etc/passwd"},` + data("image/png", p.Bytes()) + `]`, "image/png", ""},
		{`[` + strings.Replace(data("image/png", p.Bytes()), "{", `{"theme":"dark",`, 1) + `,` + data("image/jpeg", j.Bytes()) + `]`, "image/jpeg", ""},
		{`[{"src":"` + web.URL + `/icon.png"}]`, "", ""},
		{`[` + data("image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>`)) + `]`, "", "no PNG, JPEG or WebP"},
		{`[` + data("image/png", huge) + `]`, "", "30000 × 30000"},
		{`[` + data("image/png", append(bytes.Clone(p.Bytes()), make([]byte, mcphost.MaxIconBytes)...)) + `]`, "", "larger than 256 KiB"},
		{`[{"src":"data:image/png;base64,!!"}]`, "", "not base64"},
		{`[7]`, "", "no address"},
		{`[]`, "", ""},
	}
	var list []string
	for i, tt := range tests {
		list = append(list, fmt.Sprintf(`{"name":"t%02d","inputSchema":{"type":"object"},"icons":%s}`, i, tt.icons))
	}
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--script", script(t, entries(strings.Join(list, ",")))))
	problems := map[string]string{}
	for _, p := range c.Problems() {
		problems[p.Item] = p.Message
	}
	for i, tt := range tests {
		name := fmt.Sprintf("t%02d", i)
		icon, ok := trial.Tool(t, c, name).Icon()
		if icon.MIMEType != tt.kind || ok != (tt.kind != "") {
			t.Errorf("%.80s: %q, %v", tt.icons, icon.MIMEType, ok)
		}
		if said := problems[fmt.Sprintf("tool %q", name)]; !strings.Contains(said, tt.said) || (said == "") != (tt.said == "") {
			t.Errorf("%.80s: said %q", tt.icons, said)
		}
	}
	if n := fetched.Load(); n != 0 {
		t.Errorf("%d icons were fetched", n)
	}
}
