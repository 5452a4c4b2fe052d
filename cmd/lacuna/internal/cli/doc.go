// Package cli is what every command of lacuna stands on: where it prints (env.go), its errors and their exit statuses (errors.go),
// progress (progress.go), files that are complete or untouched (replacefile.go), and how words, sizes and times are written for people
// (words.go, units.go).
package cli
