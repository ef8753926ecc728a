#!/bin/sh
# Writes the book into bin/book: pages for a browser, and of them an EPUB and PDFs, where pandoc and
# Chromium are. Run it from the top of the repository.
set -eu
out=bin/book
pandoc=$(command -v pandoc || true)
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)

go -C tools run ./cmd/book .. "../$out" ${pandoc:+book.epub} ${chromium:+book.pdf boards.pdf}
cd "$out"
made=index.html
if [ -n "$pandoc" ]; then
  # pandoc begins a chapter at a heading that's in no other element.
  sed -e 's#</*main>##' -e 's#^<section id="\([^"]*\)">$#<p id="\1"></p>#' -e 's#^</section>$##' book.html |
    "$pandoc" --from=html --to=epub3 --toc --toc-depth=1 --css=style.css --metadata=lang:en --output=book.epub -
  made="$made book.epub"
fi
if [ -n "$chromium" ]; then
  for name in book boards; do
    # Chromium runs for root only with --no-sandbox. The page is ours, and loads nothing from elsewhere.
    if ! log=$("$chromium" --headless --no-sandbox --disable-gpu --no-pdf-header-footer --generate-pdf-document-outline --print-to-pdf="$name.pdf" "$name.html" 2>&1) || [ ! -s "$name.pdf" ]; then
      echo "Chromium made no $name.pdf: $log" >&2
      exit 1
    fi
  done
  made="$made book.pdf boards.pdf"
fi
echo "in $out: $made"
[ -n "$pandoc" ] || echo "LEFT OUT: book.epub, since there's no pandoc: apt-get install pandoc, or brew install pandoc"
[ -n "$chromium" ] || echo "LEFT OUT: book.pdf and boards.pdf, since there's no Chromium: apt-get install chromium, or brew install --cask chromium"
