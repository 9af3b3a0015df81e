package chat

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/theme"
)

// menuRow is the height of a line of a menu.
const menuRow = 8 * theme.Step

// attachMenu offers what the plus can add.
func (p *Place) attachMenu() {
	above := fyne.CurrentApp().Driver().AbsolutePositionForObject(p.composer)
	items := []place.MenuItem{
		{Label: lang.X("chat.attach", "Attach a file"), Icon: "file", Do: p.attachFile},
		{Label: lang.X("chat.share_folder", "Share a folder with the servers"), Icon: "folder", Do: p.shareFolder},
		{Label: lang.X("chat.prompts", "Prompts"), Icon: "slash", Shortcut: "/", Do: func() { p.composer.insert("/") }},
		{Label: lang.X("chat.resources", "Resources"), Icon: "at", Shortcut: "@", Do: func() { p.composer.insert("@") }},
		{Label: lang.X("chat.own_prompts", "Your prompts"), Icon: "settings", Do: p.promptSettings},
	}
	p.d.Layer.Menu(items, above.AddXY(0, -float32(len(items))*menuRow-3*theme.Step))
}

func (p *Place) attachFile() {
	d := dialog.NewFileOpen(func(r fyne.URIReadCloser, err error) {
		if err != nil {
			p.fail(err)
			return
		}
		if r == nil {
			return
		}
		path := r.URI().Path()
		if err := r.Close(); err != nil {
			p.fail(err)
			return
		}
		p.attachPath(path)
	}, p.d.Window())
	p.d.Layer.File(d)
}

// Dropped takes files and folders that were dropped on the window: files are attached, and folders offered to be shared
// with the servers.
func (p *Place) Dropped(paths []string) {
	p.d.Go(func(ctx context.Context) {
		var files, folders []string
		var refused []error
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				files = append(files, path)
				continue
			}
			if root, err := p.d.App.CheckRoot(ctx, path); err != nil {
				refused = append(refused, err)
			} else {
				folders = append(folders, root)
			}
		}
		if ctx.Err() != nil {
			return
		}
		p.d.Do(func() {
			for _, path := range files {
				p.attachPath(path)
			}
			for _, err := range refused {
				p.refuse(err)
			}
			p.offerFolders(folders)
		})
	})
}

// refuse says why a folder is not shared, until the person has read it.
func (p *Place) refuse(err error) {
	p.d.Layer.Ask(lang.X("chat.folder_refused", "This folder is not shared"), language.Message(err), place.Button{Label: lang.X("common.close", "Close")})
}

// offerFolders asks whether folders that may be shared are to be.
func (p *Place) offerFolders(roots []string) {
	roots = slices.DeleteFunc(roots, func(r string) bool { return slices.Contains(p.settings.Roots, r) })
	if len(roots) == 0 {
		return
	}
	shown := make([]string, len(roots))
	for i, r := range roots {
		shown[i] = clean.Reveal(shortPath(r))
	}
	p.d.Layer.Ask(lang.X("chat.share_ask", "Share with the servers of this chat?"),
		strings.Join(shown, "\n")+"\n\n"+lang.X("chat.share_about", "They are told that they may work in it, with all that is in it and below."),
		place.Button{Label: lang.X("common.cancel", "Cancel")},
		place.Button{Label: lang.X("chat.share", "Share"), Look: place.Strong, Do: func() { p.addRoots(roots) }})
}

func (p *Place) addRoots(roots []string) {
	p.change(func(s *app.ConversationSettings) {
		all := slices.Clone(s.Roots)
		for _, r := range roots {
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
		s.Roots = all
	})
}

// attachPath attaches a file to what is being written in the conversation that is shown now, also where another one is
// shown by the time it is read.
func (p *Place) attachPath(path string) {
	id, turn := p.state.conversation, p.loading
	fetch(p, func(ctx context.Context) (app.Attachment, error) { return p.d.App.AttachFile(ctx, path) }, func(a app.Attachment) {
		if turn != p.loading && id != p.state.conversation {
			d := p.drafts[id]
			d.attach = append(slices.Clone(d.attach), a)
			p.drafts[id] = d
			return
		}
		p.composer.add(a)
	})
}

func (p *Place) shareFolder() {
	d := dialog.NewFolderOpen(func(u fyne.ListableURI, err error) {
		if err != nil {
			p.fail(err)
		} else if u != nil {
			p.share(u.Path())
		}
	}, p.d.Window())
	p.d.Layer.File(d)
}

// share shares a folder that may be shared.
func (p *Place) share(path string) {
	p.d.Go(func(ctx context.Context) {
		root, err := p.d.App.CheckRoot(ctx, path)
		if gone(ctx, err) {
			return
		}
		p.d.Do(func() {
			if err != nil {
				p.refuse(err)
				return
			}
			p.addRoots([]string{root})
		})
	})
}

func (p *Place) unshare(root string) {
	p.change(func(s *app.ConversationSettings) {
		s.Roots = slices.DeleteFunc(slices.Clone(s.Roots), func(r string) bool { return r == root })
	})
}

// shortPath writes the person's own folder as ~.
func shortPath(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" || home == "/" {
		return path
	}
	if path == home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}
