package schema

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Words that stand alone, after a name was cut into words.
var secretWords = []string{
	"password", "passwords", "passwd", "passwort", "pwd", "passphrase", "passcode", "secret", "secrets", "credential", "credentials",
	"apikey", "apikeys", "token", "jwt", "otp", "totp", "mfa", "cvv", "cvc", "ccv", "csc", "pin", "ssn", "iban", "mnemonic",
	"contraseña", "senha", "kennwort", "geheimnis", "пароль", "секрет",
}

// Words that follow each other.
var secretPhrases = [][]string{
	{"api", "key"}, {"access", "key"}, {"secret", "key"}, {"private", "key"}, {"encryption", "key"}, {"ssh", "key"}, {"license", "key"},
	{"signing", "key"}, {"account", "key"}, {"recovery", "key"}, {"recovery", "code"}, {"backup", "code"}, {"security", "code"}, {"verification", "code"},
	{"one", "time", "code"}, {"login", "code"}, {"auth", "code"}, {"pass", "word"}, {"pass", "phrase"}, {"seed", "phrase"},
	{"credit", "card"}, {"debit", "card"}, {"bank", "card"}, {"card", "number"}, {"card", "no"}, {"card", "num"}, {"payment", "card"}, {"account", "number"},
	{"routing", "number"}, {"social", "security"}, {"security", "number"}, {"passport", "number"}, {"client", "secret"}, {"mot", "de", "passe"},
	{"connection", "string"}, {"session", "cookie"}, {"auth", "cookie"},
}

// Words that are often written in one with others.
var secretJoined = []string{
	"password", "passwd", "passphrase", "apikey", "secretkey", "privatekey", "accesskey", "accesstoken", "authtoken", "creditcard", "debitcard",
	"cardnumber", "seedphrase", "clientsecret", "securitycode",
}

// Parts of texts in languages that put no spaces between words.
var secretParts = []string{
	"密码", "密碼", "口令", "密钥", "密鑰", "秘钥", "秘密", "令牌", "验证码", "驗證碼", "银行卡", "信用卡", "卡号", "卡號", "身份证", "身份證", "私钥", "私鑰",
	"助记词", "助記詞", "凭证", "憑證", "支付", "安全码", "パスワード", "暗証番号", "비밀번호", "인증번호",
}

// looksSecret says whether a field seems to ask for something that should not be typed
// into a server's form (MCP client/elicitation: servers must not ask for secrets this
// way). It looks at name, title, description and format, through other letter forms
// and invisible characters. A number is asked for only by words that mean one.
func looksSecret(f *Field, def Object) bool {
	switch f.Kind {
	case Boolean, Choice, Choices:
		return false
	}
	if f.Format == "password" {
		return true
	}
	if raw, ok := def.Get("writeOnly"); ok && string(raw) == "true" {
		return true
	}
	// "maxTokens" is a number; "PIN" and a card number may be.
	numeric := f.Kind == Number || f.Kind == Integer || f.Kind == List && f.Item != Text
	texts := []string{f.Name, f.Title, f.Description}
	if f.Kind == Number || f.Kind == Integer {
		texts = texts[:2] // a number is described at length ("not your PIN"); what it is stands in its name
	}
	for _, text := range texts {
		text = short(text, 2000)
		if secretText(text, numeric) {
			return true
		}
	}
	return false
}

func secretText(text string, numeric bool) bool {
	folded := fold(text)
	for _, part := range secretParts {
		if strings.Contains(folded, part) {
			return true
		}
	}
	words := splitWords(folded)
	for i, w := range words {
		w = latin(strings.ToLower(w))
		words[i] = w
		if slices.Contains(secretWords, w) && (!numeric || w != "token") {
			return true
		}
		if slices.ContainsFunc(secretJoined, func(j string) bool { return strings.Contains(w, j) }) {
			return true
		}
	}
	for _, phrase := range secretPhrases {
		for i := range words {
			if i+len(phrase) <= len(words) && slices.Equal(words[i:i+len(phrase)], phrase) {
				return true
			}
		}
	}
	return false
}

// fold brings text to its plain letters and drops what is invisible.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Mn, unicode.Cc) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, norm.NFKC.String(text))
}

// latin replaces letters that look like Latin ones in words that mix the two.
func latin(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
		return word
	}
	return lookalikes.Replace(word)
}

var lookalikes = strings.NewReplacer("а", "a", "с", "c", "е", "e", "і", "i", "ј", "j", "к", "k", "о", "o", "р", "p", "ѕ", "s", "у", "y", "х", "x",
	"α", "a", "ο", "o", "ρ", "p", "ν", "v", "ı", "i", "ɡ", "g", "0", "o", "1", "l", "$", "s", "@", "a")

// splitWords cuts at everything that is no letter or digit, and where camelCase begins
// a new word.
func splitWords(s string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, string(word))
			word = word[:0]
		}
	}
	runes := []rune(s)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		lowerBefore := i > 0 && unicode.IsLower(runes[i-1])
		acronymEnds := i > 0 && i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(r) && (lowerBefore || acronymEnds) {
			flush()
		}
		word = append(word, r)
	}
	flush()
	return out
}
