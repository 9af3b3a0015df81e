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
	"steward/ui/place"
)

// attachMenu offers what the plus can add.
func (p *Place) attachMenu(at fyne.CanvasObject) {
	pos := fyne.CurrentApp().Driver().AbsolutePositionForObject(at)
	p.d.Layer.Menu([]place.MenuItem{
		{Label: lang.X("chat.attach", "Attach a file"), Icon: "file", Do: p.attachFile},
		{Label: lang.X("chat.share_folder", "Share a folder with the servers"), Icon: "folder", Do: p.shareFolder},
		{Label: lang.X("chat.prompts", "Prompts"), Icon: "slash", Shortcut: "/", Do: func() { p.composer.insert("/") }},
		{Label: lang.X("chat.resources", "Resources"), Icon: "at", Shortcut: "@", Do: func() { p.composer.insert("@") }},
		{Label: lang.X("chat.own_prompts", "Your prompts"), Icon: "settings", Do: p.promptSettings},
	}, pos.AddXY(0, -196))
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
	d.Show()
	d.Resize(fyne.NewSize(820, 560)) // only after Show: before, the toolkit has nothing to resize and panics
}

// Dropped takes files and folders that were dropped on the window.
func (p *Place) Dropped(paths []string) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			p.share(path)
		} else {
			p.attachPath(path)
		}
	}
}

func (p *Place) attachPath(path string) {
	p.d.Go(func(ctx context.Context) {
		a, err := p.d.App.AttachFile(ctx, path)
		if gone(ctx, err) {
			return
		}
		p.d.Do(func() {
			if err != nil {
				p.fail(err)
				return
			}
			p.composer.add(a)
		})
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
	d.Show()
	d.Resize(fyne.NewSize(820, 560)) // only after Show: before, the toolkit has nothing to resize and panics
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
				p.fail(err)
				return
			}
			if !slices.Contains(p.settings.Roots, root) {
				p.change(func(s *app.ConversationSettings) { s.Roots = append(slices.Clone(s.Roots), root) })
			}
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
