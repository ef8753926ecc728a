package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"
)

// fetching is how the archive is brought: over a bad network, in parts.
type fetching struct {
	client   *http.Client
	attempts int           // how often a connection that breaks is made again
	pause    time.Duration // between two of them
	stall    time.Duration // how long a connection may bring nothing
}

// patient is the fetching that people get. A connection has a deadline for its beginning and for each
// pause, none for the whole: 60 MB may take an hour somewhere.
func patient() fetching {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
	}
	return fetching{client: &http.Client{Transport: transport}, attempts: 5, pause: 2 * time.Second, stall: 30 * time.Second}
}

// fetch brings the released lab from an address, compares it with its digest in lab/released.txt, and
// only then unpacks it and puts it in place.
func fetch(ctx context.Context, screen *display, start time.Time, address string) error {
	wanted, err := releasedFor(runtime.GOOS + "/" + runtime.GOARCH)
	if err != nil {
		return err
	}
	url, packed := strings.TrimSuffix(address, "/")+"/"+wanted.file(), "bin/"+wanted.file()
	if err := os.MkdirAll("bin", 0o755); err != nil {
		return err
	}
	show := func(have, of int64) {
		screen.Show(fmt.Sprintf("fetching the lab, %d of %d MB, %s", have/1e6, of/1e6, elapsed(time.Since(start))))
	}
	if err := patient().download(ctx, url, packed, show); err != nil {
		return fmt.Errorf("fetching the lab from %s: %w", url, err)
	}
	if err := unpack(packed, wanted.archive); err != nil {
		return fmt.Errorf("unpacking what came from %s: %w", url, err)
	}
	size, err := install()
	if err != nil {
		return err
	}
	screen.Clear()
	screen.Print(fmt.Sprintf("fetched lab/%s: %d MB, in %s, from %s; it is what lab/%s names", output, size/1e6, elapsed(time.Since(start)), url, releasedFile))
	return nil
}

// download writes what is at the URL into a file. What an earlier attempt left there, also one of another
// run, is not fetched again.
func (f fetching) download(ctx context.Context, url, path string, show func(have, of int64)) error {
	var last error
	for attempt := range f.attempts {
		if attempt > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(f.pause):
			}
		}
		again, err := f.resume(ctx, url, path, show)
		if err == nil || !again || ctx.Err() != nil {
			return err
		}
		last = err
	}
	return fmt.Errorf("after %d attempts: %w", f.attempts, last)
}

// resume fetches what the file lacks, in one request. again says whether another request may help.
func (f fetching) resume(ctx context.Context, url, path string, show func(have, of int64)) (again bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var have int64
	if info, err := os.Stat(path); err == nil {
		have = info.Size()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	response, err := f.client.Do(request)
	if err != nil {
		return true, err
	}
	defer response.Body.Close()
	how := os.O_APPEND
	switch {
	case response.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return false, nil // it is all there
	case response.StatusCode == http.StatusOK: // also of a server that knows no ranges
		have, how = 0, os.O_TRUNC
	case response.StatusCode != http.StatusPartialContent:
		return response.StatusCode >= 500, errors.New(response.Status)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|how, 0o600)
	if err != nil {
		return false, err
	}
	defer file.Close()
	stalled := time.AfterFunc(f.stall, func() { cancel(fmt.Errorf("nothing came for %s", f.stall)) })
	defer stalled.Stop()
	of := have + max(response.ContentLength, 0)
	watch := watcher(func(n int) {
		stalled.Reset(f.stall)
		have += int64(n)
		show(have, of)
	})
	if _, err := io.Copy(io.MultiWriter(file, watch), response.Body); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return true, err
	}
	return false, file.Close()
}

// A watcher is told how many bytes were written.
type watcher func(n int)

func (w watcher) Write(p []byte) (int, error) {
	w(len(p))
	return len(p), nil
}

// largest is more than the lab will ever need: what unpacks to more is no lab.
const largest = 2 << 30

// unpack compares an archive with its digest, and makes the program of it that install expects. The
// archive is removed in any case: one that is wrong would be wrong again.
func unpack(packed, digest string) error {
	defer os.Remove(packed)
	got, err := digestOf(packed)
	if err != nil {
		return err
	}
	if got != digest {
		return fmt.Errorf("its SHA-256 is %s, and lab/%s wants %s", got, releasedFile, digest)
	}
	from, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer from.Close()
	zipped, err := gzip.NewReader(from)
	if err != nil {
		return err
	}
	to, err := os.OpenFile(unfinished, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer to.Close()
	if n, err := io.Copy(to, io.LimitReader(zipped, largest)); err != nil || n == largest {
		return errors.Join(err, fmt.Errorf("%d bytes were unpacked", n))
	}
	return to.Close()
}
