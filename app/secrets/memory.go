package secrets

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
)

// memory keeps values until the program ends.
type memory struct {
	mu     sync.Mutex
	values map[string]string
}

func (m *memory) get(_ context.Context, account string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[account]
	if !ok {
		return "", ErrNotFound
	}
	return value, nil
}

func (m *memory) set(_ context.Context, account, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[account] = value
	return nil
}

func (m *memory) remove(_ context.Context, account string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.values[account]; !ok {
		return ErrNotFound
	}
	delete(m.values, account)
	return nil
}

func (m *memory) names(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return secretNames(slices.Collect(maps.Keys(m.values))), nil
}

// secretNames picks the names of secrets from accounts, sorted.
func secretNames(accounts []string) []string {
	names := []string{}
	for _, account := range accounts {
		if name, ok := strings.CutPrefix(account, "secret/"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
