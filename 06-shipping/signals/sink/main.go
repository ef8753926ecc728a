// Sink is a collector of traces for one machine: it takes what OpenTelemetry sends over HTTP
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp), and prints each trace as a tree of spans.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

func main() {
	address := flag.String("listen", "127.0.0.1:4318", "the `address` to listen at: anyone who reaches it may write there")
	flag.Parse()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal("listening for traces: ", err)
	}
	fmt.Println("listening at", listener.Addr())
	server := &http.Server{Handler: sink(os.Stdout), ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}

// sink answers as a collector does, and prints what it gets.
func sink(out io.Writer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
		var sent collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var spans []*traces.Span
		for _, resource := range sent.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				spans = append(spans, scope.Spans...)
			}
		}
		slices.SortStableFunc(spans, func(a, b *traces.Span) int { return cmp.Compare(a.StartTimeUnixNano, b.StartTimeUnixNano) })
		for _, span := range spans {
			if len(span.ParentSpanId) == 0 {
				fmt.Fprintf(out, "trace %x\n", span.TraceId)
				tree(out, spans, span, span.StartTimeUnixNano, "  ")
			}
		}
	})
	return mux
}

// tree prints a span, when it began after the root and how long it took, and below it what it contains.
func tree(out io.Writer, spans []*traces.Span, span *traces.Span, start uint64, indent string) {
	took := time.Duration(span.EndTimeUnixNano - span.StartTimeUnixNano).Round(time.Millisecond)
	fmt.Fprintf(out, "%s+%v %s %v", indent, time.Duration(span.StartTimeUnixNano-start).Round(time.Millisecond), span.Name, took)
	for _, a := range span.Attributes {
		switch text := a.Value.GetStringValue(); a.Key {
		case "k8s.namespace.name", "name", "reconcileID":
			fmt.Fprint(out, " ", text)
		case "http.response.status_code":
			fmt.Fprint(out, " ", a.Value.GetIntValue())
		case "url.full":
			if u, err := url.Parse(text); err == nil {
				fmt.Fprint(out, " ", u.Path)
			}
		}
	}
	fmt.Fprintln(out, strings.TrimRight(" "+span.GetStatus().GetMessage(), " "))
	for _, child := range spans {
		if string(child.ParentSpanId) == string(span.SpanId) {
			tree(out, spans, child, start, indent+"  ")
		}
	}
}
