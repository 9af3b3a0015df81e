package storage

import (
	"context"
	"testing"
)

// BenchmarkOpen is what every command pays before it can do anything.
func BenchmarkOpen(b *testing.B) {
	dir := made(b)
	for _, c := range []struct {
		name     string
		readOnly bool
	}{{"write", false}, {"read", true}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				db, err := Open(context.Background(), Options{Dir: dir, ReadOnly: c.readOnly})
				if err != nil {
					b.Fatal(err)
				}
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
