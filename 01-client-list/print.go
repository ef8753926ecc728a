package main

import (
	"bufio"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// printer prints a list that arrives in pages.
type printer interface {
	print(page []corev1.Namespace) error
	// finish prints what print has held back.
	finish() error
}

func newPrinter(output string, w io.Writer) printer {
	if output == "wide" {
		// The same minimum width, tab width and padding as kubectl.
		return &widePrinter{out: tabwriter.NewWriter(w, 6, 4, 3, ' ', 0)}
	}
	return &namePrinter{out: bufio.NewWriter(w)}
}

// namePrinter prints one name per line, each page as it arrives.
type namePrinter struct {
	out *bufio.Writer
}

func (p *namePrinter) print(page []corev1.Namespace) error {
	for _, namespace := range page {
		fmt.Fprintln(p.out, namespace.Name)
	}
	return p.finish()
}

func (p *namePrinter) finish() error {
	return outputError(p.out.Flush())
}

// widePrinter prints the table of `kubectl get namespaces`. The longest name
// decides where the second column begins, so nothing can be printed before the
// last page is here. What waits until then is text, a line per namespace; the
// objects are gone with their page.
type widePrinter struct {
	out    *tabwriter.Writer
	header bool
}

func (p *widePrinter) print(page []corev1.Namespace) error {
	if !p.header {
		fmt.Fprintln(p.out, "NAME\tSTATUS\tAGE")
		p.header = true
	}
	for _, namespace := range page {
		fmt.Fprintf(p.out, "%s\t%s\t%s\n", namespace.Name, namespace.Status.Phase, age(namespace))
	}
	return nil
}

func (p *widePrinter) finish() error {
	return outputError(p.out.Flush())
}

// age is what kubectl shows: 45s, 3m12s, 7h, 12d.
func age(namespace corev1.Namespace) string {
	created := namespace.CreationTimestamp
	if created.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(created.Time))
}

// outputError adds what could not be done. When the reader of a pipe has gone, as in
// `client-list | head -1`, the process has ended of SIGPIPE before.
func outputError(err error) error {
	if err != nil {
		return fmt.Errorf("writing the list: %w", err)
	}
	return nil
}
