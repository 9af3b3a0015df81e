package chat

import (
	"net/url"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app/opener"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/sentence"
)

// checkLink gives an address of a message as it would be opened. Unlike what a server asks to be opened it may be plain
// http to another computer: the person has chosen it in the text.
func checkLink(address string) (opener.Shown, error) {
	shown, err := opener.Check(address)
	const plain, secure = "http:", "https:"
	if err == nil || len(address) < len(plain) || !strings.EqualFold(address[:len(plain)], plain) {
		return shown, err
	}
	if shown, err = opener.Check(secure + address[len(plain):]); err == nil {
		shown.URL = plain + strings.TrimPrefix(shown.URL, secure)
	}
	return shown, err
}

// openLink asks before an address of a message is opened: its words may say something else than where it leads. What is
// shown is what is opened, in characters that look like no others.
func (p *Place) openLink(address string) {
	shown, err := checkLink(address)
	copied := place.Button{Label: lang.X("chat.copy_link", "Copy the address"), Do: func() { p.copyText(address) }}
	if err != nil {
		p.d.Layer.Ask(lang.X("chat.link_refused", "This address is not opened"), sentence.Worded(err.Error()), place.Button{Label: lang.X("common.close", "Close")}, copied)
		return
	}
	u, err := url.Parse(shown.URL)
	if err != nil {
		p.fail(err)
		return
	}
	body := shown.Host
	if shown.Warning != "" {
		body += "\n" + sentence.Worded(shown.Warning)
	}
	p.d.Layer.Ask(lang.X("chat.open_link", "Open this address?"), body+"\n\n"+shown.URL,
		place.Button{Label: lang.X("common.cancel", "Cancel")}, copied,
		place.Button{Label: lang.X("common.open", "Open"), Look: place.Strong, Do: func() {
			if err := fyne.CurrentApp().OpenURL(u); err != nil {
				p.d.Layer.Toast(language.Message(err))
			}
		}})
}
