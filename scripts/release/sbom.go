package main

import (
	"debug/buildinfo"
	"encoding/json"
	"runtime/debug"
	"strings"
	"time"
)

// A bill of materials as CycloneDX 1.5 has it (cyclonedx.org/docs/1.5/json).
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// billOfMaterials lists the modules that a binary is made of, as it says itself (go version -m).
func (r *maker) billOfMaterials(binary, name string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	main := component{Type: "application", Name: name, Version: r.version}
	for _, s := range info.Settings {
		main.Properties = append(main.Properties, property{"go:" + s.Key, s.Value})
	}
	b := bill{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Metadata:   metadata{r.time.Format(time.RFC3339), main},
		Components: []component{{Type: "library", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}},
	}
	for _, m := range info.Deps {
		b.Components = append(b.Components, moduleComponent(m))
	}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

// moduleComponent is a module that a binary is made of.
func moduleComponent(m *debug.Module) component {
	if m.Replace != nil {
		m = m.Replace
	}
	c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}} // of go.sum, which is none of CycloneDX's hashes
	}
	return c
}
