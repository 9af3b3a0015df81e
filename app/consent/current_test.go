package consent

import (
	"context"
	"testing"
)

func TestWhyAToolIsNotOffered(t *testing.T) {
	t.Parallel()
	off := ""
	r := newRig(t, func(o *Options) {
		o.Disabled = func(conversation, server, tool, _ string) bool {
			return conversation == "c_1" && server+"/"+tool == off
		}
	})
	conn, _ := r.server("s", "--only", "echo", "--only", "add")
	for _, test := range []struct {
		off, tool string
		gone      bool // the server has no connection
		want      string
	}{
		{"", "echo", false, ""},
		{"", "other", false, "the server s does not offer a tool named other"},
		{"s/echo", "echo", false, "the person has switched echo off"},
		{"s/echo", "add", false, ""},
		{"", "echo", true, "the server s is not running"},
		{"s/echo", "echo", true, "the person has switched echo off"},
	} {
		off = test.off
		at := conn
		if test.gone {
			at = nil
		}
		got, err := r.gate.WhyNotOffered(context.Background(), "c_1", at, "s", test.tool)
		if err != nil || got != test.want {
			t.Errorf("%+v: %q, %v", test, got, err)
		}
	}
}
