// Command book writes the workshop as pages for a browser, which need no server: the Markdown of the
// repository, the pictures and the files that it links to, and a search.
//
//	book REPOSITORY                 writes nothing, and names each link that leads nowhere
//	book REPOSITORY FOLDER FILE...  writes the pages; they link to the files, which others put beside them
//
// tools/scripts/book.sh is what make book runs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "book:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("name the repository, and the folder for the pages")
	}
	r, err := repository.Find(ctx, args[0])
	if err != nil {
		return err
	}
	s, err := build(r, args[min(2, len(args)):])
	if err != nil {
		return err
	}
	if len(args) > 1 {
		err = s.files.write(args[1])
	}
	fmt.Fprintf(out, "pages: %d; all that they link to is there\n", len(s.sorted))
	return err
}

// write puts the files into a folder, in place of the last book.
func (f files) write(folder string) error {
	if there, err := os.ReadDir(folder); err == nil && len(there) > 0 {
		if _, err := os.Stat(filepath.Join(folder, "search.js")); err != nil {
			return fmt.Errorf("%s has something else than a book: name another folder", folder)
		}
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("removing the last book: %w", err)
	}
	for name, content := range f {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("writing the book: %w", err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return fmt.Errorf("writing the book: %w", err)
		}
	}
	return nil
}
