// Package place says what the window and its places promise each other. A place is what the large part of the window
// shows: a chat, the waiting list, the servers, the audit, the settings. The window (ui/shell) makes each once, switches
// between them and closes them; a place knows the window through Deps alone.
package place

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"steward/app"
)

// Names of the places, as Deps.Open takes them.
const (
	Chat     = "chat"     // argument: the id of a conversation, "" for a new one
	Waiting  = "waiting"  // argument: the id of an item, or ""
	Servers  = "servers"  // argument: a server's name, or ""
	Audit    = "audit"    // argument: the number of a record, or ""
	Settings = "settings" // argument: a section, or ""
)

// Place is one place. All methods are called on Fyne's goroutine.
type Place interface {
	// Canvas is what the window shows. It is asked for often and gives the same object each time.
	Canvas() fyne.CanvasObject
	// Goto shows what argument names; what is "" or unknown leaves the place as it is. It is called before Shown, and
	// also while the place is shown.
	Goto(argument string)
	// Shown says that the place is seen from now on, Hidden that it is not: it need not draw then. Both are told once
	// for each change.
	Shown()
	Hidden()
	// Commands are what the place offers to the keyboard and the command palette while it is shown.
	Commands() []Command
	// Close gives back what the place holds. It must not wait; work begun with Deps.Go is ended by the window.
	Close()
}

// PromptUser is a place that can put a server's prompt to use: the chat. The command palette asks for it.
type PromptUser interface {
	UsePrompt(server, name string)
}

// FileTaker is a place that takes files and folders dropped on the window: the chat. Paths are as the system gives them.
type FileTaker interface {
	Dropped(paths []string)
}

// ToolShower is a place that can show one tool of a server: the servers. The command palette asks for it.
type ToolShower interface {
	ShowTool(server, tool string)
}

// SecretOpener is a place that can ask for the passphrase of the encrypted secrets file: the settings. The window asks
// for it at the start, where there is such a file and it is closed.
type SecretOpener interface {
	OpenSecrets()
}

// Keys of app.Preference that the window and its places share.
const (
	PreferTheme    = "appearance.theme"    // see Deps.SetTheme
	PreferLanguage = "appearance.language" // see Deps.SetLanguage
	PreferScale    = "appearance.scale"    // "1", "1.25", …: used from the next start on; empty is the system's
	PreferTitles   = "chat.titles"         // whether models name chats: TitlesFromModel, or TitlesFromWords
	PreferEnter    = "chat.enter"          // what Enter does in the message field: EnterSends, or EnterBreaks
)

// Values of PreferEnter; empty is EnterSends. Shift+Enter does the other.
const (
	EnterSends  = "send"
	EnterBreaks = "break"
)

// Values of PreferTitles; empty is TitlesFromModel.
const (
	TitlesFromModel = "model" // the model is asked for one after the first turn
	TitlesFromWords = "words" // the first words are the title; nobody is asked
)

// Command is something a person can do by a key or through the command palette.
type Command struct {
	ID       string        // unique, dotted by place: "chat.branch"
	TitleKey string        // translation key; "" keeps the command out of the palette
	Shortcut fyne.Shortcut // nil: none; else a *desktop.CustomShortcut or one of Fyne's own
	Enabled  func() bool   // nil: always; asked on Fyne's goroutine
	Do       func()        // called on Fyne's goroutine
}

// Deps is what the window gives a place. Every function is set.
type Deps struct {
	App *app.App

	// Do runs f on Fyne's goroutine, at most 30 times a second for all that was asked in between, in order. It never
	// blocks and may be called from any goroutine. Once the window closes, f is dropped.
	Do func(f func())

	// Go runs f on a goroutine of the window's: ctx ends when the window closes, which then waits for f within bounds.
	// It may be called from any goroutine. Once the window closes, f is not begun. A panic in f ends f alone and is
	// told to the person.
	Go func(f func(ctx context.Context))

	// Layer shows what lies over the places.
	Layer Layer

	// Open shows a place; see the names above for its argument. Fyne's goroutine. A place that does not exist is
	// ignored.
	Open func(name, argument string)

	// Showing tells the window what the place named name shows now, in the words of Open, when it came to that by
	// itself: the side bar marks it, and it is what the next start opens. Fyne's goroutine.
	Showing func(name, argument string)

	// Shortcut runs the command that has this shortcut, and reports whether there is one that may run now. Widgets that
	// take the keyboard hand on shortcuts they do not know, and Escape (a *desktop.CustomShortcut without modifiers)
	// where they have no use for it: that closes what lies over the places. Fyne's goroutine.
	Shortcut func(s fyne.Shortcut) bool

	// Commands are all the commands there are, the window's own first, then those of each place: for a list of keys. nil:
	// they are not known. Fyne's goroutine.
	Commands func() []Command

	// SetTheme and SetLanguage use and remember a choice: one of theme.FollowSystem, AlwaysLight, AlwaysDark; one of
	// language.FollowSystem and assets.Languages, which is seen from the next start on. Fyne's goroutine.
	SetTheme    func(choice string)
	SetLanguage func(choice string)

	// Window is the window, for Fyne's file dialogs and the focus. Fyne's goroutine.
	Window func() fyne.Window

	// Front is when the window last came to the front, the zero time where it has been there from the start. Answers
	// that let something run are not taken right after it: the click or key may have been meant for another program.
	// nil is the zero time. Fyne's goroutine.
	Front func() time.Time

	// Drafts are half-given answers by the id of what waits for them. All places of a window share one map, so that a
	// draft is found again wherever its item is shown; it may hold secrets and is never stored. nil keeps none. Fyne's
	// goroutine.
	Drafts map[string]any
}

// Layer shows things over the places without taking the keyboard, except Dialog. Fyne's goroutine.
type Layer interface {
	// Popup shows content with its upper left corner at a position of the window, moved so that it fits in. It does not
	// take the focus. A tap elsewhere, Escape that nothing else used, or close ends it; onClose (may be nil) is told
	// once, whatever ended it. A second popup closes the first.
	Popup(content fyne.CanvasObject, at fyne.Position, onClose func()) (close func())

	// Menu shows a menu that the keyboard can use, at a position of the window. The focus goes back afterwards.
	Menu(items []MenuItem, at fyne.Position)

	// Toast shows a sentence for a few seconds at the foot of the window. The text may be foreign; it is shown plain.
	Toast(text string)

	// Offer is a toast with a button. It stays for ten seconds; ended (may be nil) is told once when it is gone without
	// the button having been used.
	Offer(text, button string, do, ended func())

	// Dialog shows content in the middle of the window, over everything, and keeps the keyboard inside until it is
	// closed. Escape closes it. onClose may be nil.
	Dialog(content fyne.CanvasObject, onClose func()) (close func())

	// File shows one of the toolkit's dialogs for files, over everything. Escape dismisses it where no entry of it has
	// the keyboard. The layer owns what happens when it closes (SetOnClosed).
	File(d FileDialog)

	// Ask shows a question with buttons and calls the chosen one's Do. Escape is the first button, which also has the
	// focus: make it the harmless one.
	Ask(title, body string, buttons ...Button)
}

// FileDialog is what the layer needs of Fyne's dialog.FileDialog.
type FileDialog interface {
	Show()
	Resize(fyne.Size)
	Dismiss()
	SetOnClosed(func())
}

// Look is how much a button or menu item draws the eye.
type Look uint8

// Looks.
const (
	Plain Look = iota
	Strong
	Dangerous
)

// Button is one answer of Layer.Ask. Label is in the person's language already; Do may be nil.
type Button struct {
	Label string
	Look  Look
	Do    func()
}

// MenuItem is one line of a menu; one without a label is a rule. The label is in the person's language already.
type MenuItem struct {
	Label    string
	Icon     string // name for theme.Icon; "": none
	Shortcut string // as it is shown; "": none
	Look     Look
	Checked  bool
	Disabled bool
	Do       func()
}
