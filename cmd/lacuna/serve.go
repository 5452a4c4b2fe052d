package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/internal/explorer"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/web"
)

func newServe(a *app) *cobra.Command {
	var port int
	var engine string
	cmd := &cobra.Command{
		Use:   "serve [FOLDER]…",
		Short: "Show, run and explain programs in a browser",
		Long: `Serve shows the explorer, a page with an editor, on this machine only, and prints its
address, which holds a secret. Programs run here, as machine code where LLVM is found; so the
page has assembly and measured times too, and the files of the folders named as operands. No
other file can be read, no other page can ask, and nothing is written.`,
		Example: "  lacuna serve\n  lacuna serve data matrices --port 8080",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkEngine(engine); err != nil {
				return err
			}
			e, err := runtime.EngineByName(engine, a.Notice)
			if err != nil {
				return err
			}
			folders, err := openFolders(args)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), &explorer.Service{Engine: e, MemoryLimit: serveLimit, Open: folders.open, Files: folders.files}, port)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "the port; 0 takes one that is free")
	cmd.Flags().StringVar(&engine, "engine", runtime.AutoName, "auto, interp, cpu or cuda")
	cmd.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(engines, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

const (
	serveLimit    = 2 << 30   // bytes that a run may allocate
	maxQuestion   = 128 << 20 // bytes of a question, which may have a dropped file in it
	servePatience = 2 * time.Minute
)

// serve answers until the context ends.
func (a *app) serve(ctx context.Context, service *explorer.Service, port int) error {
	files, err := web.Files()
	if err != nil {
		return err
	}
	page, err := web.ServerPage()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	handler, token := serveHandler(service, listener.Addr().String(), files, page)
	fmt.Fprintf(a.Stdout, "http://%s/%s/\n", listener.Addr(), token)
	a.Stdout.Flush()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// serveHandler is what is served at an address, all of it under a token that nobody can guess: a page elsewhere that a
// browser shows could otherwise ask too.
func serveHandler(service *explorer.Service, address string, files fs.FS, page []byte) (h http.Handler, token string) {
	secret := make([]byte, 16)
	rand.Read(secret)
	token = hex.EncodeToString(secret)
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page)
	})
	mux.HandleFunc("POST /api", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "http://"+address || r.Header.Get("Content-Type") != "application/json" {
			http.Error(w, "only the explorer's page may ask", http.StatusForbidden)
			return
		}
		question, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestion))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), servePatience)
		defer cancel()
		w.Header().Set("Content-Type", "application/json")
		w.Write(service.Answer(ctx, question))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		// The host is checked because a name of another site may be made to lead here.
		if subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 || r.Host != address {
			http.NotFound(w, r)
			return
		}
		for key, value := range map[string]string{
			"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
			"Referrer-Policy":              "no-referrer",
			"X-Content-Type-Options":       "nosniff",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-store",
		} {
			w.Header().Set(key, value)
		}
		inner := r.Clone(r.Context())
		inner.URL.Path, inner.URL.RawPath = "/"+rest, ""
		mux.ServeHTTP(w, inner)
	}), token
}

// folders are those whose files may be read. A root does not let anyone out of it, through links either.
type folders struct {
	names []string
	roots []*os.Root
}

func openFolders(paths []string) (*folders, error) {
	f := &folders{}
	for _, path := range paths {
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(path)
		if slices.Contains(f.names, name) || name == "." || name == ".." {
			name = fmt.Sprintf("folder%d", len(f.names)+1)
		}
		f.names, f.roots = append(f.names, name), append(f.roots, root)
	}
	return f, nil
}

// open opens FOLDER/PATH.
func (f *folders) open(name string) (io.ReadCloser, error) {
	folder, path, _ := strings.Cut(name, "/")
	if i := slices.Index(f.names, folder); i >= 0 {
		return f.roots[i].Open(filepath.FromSlash(path))
	}
	return nil, fmt.Errorf("%s is in none of the folders that are served", name)
}

// maxListed bounds the files that are offered, and those that are looked at for them.
const maxListed = 500

// files lists the files that tensors are read from.
func (f *folders) files() []string {
	var list []string
	for i, root := range f.roots {
		looked := 0
		fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
			if looked++; looked > 20*maxListed || len(list) == maxListed {
				return fs.SkipAll
			}
			if err == nil && d.Type().IsRegular() && operand.Readable(path) {
				list = append(list, f.names[i]+"/"+path)
			}
			return nil
		})
	}
	return list
}
