package main

import (
	"runtime/debug"
	"testing"
)

func TestCommit(t *testing.T) {
	for _, c := range []struct{ revision, modified, want string }{
		{"", "", ""},
		{"abc", "false", ", commit abc"},
		{"abc", "true", ", commit abc and changes"},
	} {
		info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: c.revision}, {Key: "vcs.modified", Value: c.modified}}}
		if got := commit(info); got != c.want {
			t.Errorf("revision %q, modified %q: got %q, want %q", c.revision, c.modified, got, c.want)
		}
	}
	if got := commit(nil); got != "" {
		t.Errorf("without build information: %q", got)
	}
}
