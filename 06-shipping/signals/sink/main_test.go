package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

func post(t *testing.T, body []byte) (code int, printed string) {
	t.Helper()
	var out bytes.Buffer
	answer := httptest.NewRecorder()
	sink(&out).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/traces", bytes.NewReader(body)))
	return answer.Code, out.String()
}

func TestATraceIsATree(t *testing.T) {
	const ms = 1_000_000
	id := []byte{0xab, 0xcd}
	// A request ends before its reconcile, so it is sent first.
	body, err := proto.Marshal(&collector.ExportTraceServiceRequest{ResourceSpans: []*traces.ResourceSpans{{ScopeSpans: []*traces.ScopeSpans{
		{Spans: []*traces.Span{{
			TraceId: id, SpanId: []byte{2}, ParentSpanId: []byte{1}, Name: "HTTP POST", StartTimeUnixNano: 107 * ms, EndTimeUnixNano: 160 * ms,
			Attributes: []*common.KeyValue{
				text("url.full", "https://127.0.0.1:6443/api/v1/namespaces/harbour/pods?dryRun=All"),
				{Key: "http.response.status_code", Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: 403}}},
			},
		}}},
		{Spans: []*traces.Span{{
			TraceId: id, SpanId: []byte{1}, Name: "reconcile At", StartTimeUnixNano: 100 * ms, EndTimeUnixNano: 206 * ms,
			Attributes: []*common.KeyValue{text("name", "yay"), text("reconcileID", "4c74"), text("other", "hidden")},
			Status:     &traces.Status{Message: "no", Code: traces.Status_STATUS_CODE_ERROR},
		}}},
	}}}})
	require.NoError(t, err)
	code, printed := post(t, body)
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, "trace abcd\n  +0s reconcile At 106ms yay 4c74 no\n    +7ms HTTP POST 53ms /api/v1/namespaces/harbour/pods 403\n", printed)
}

func TestWhatIsNoTraceIsRefused(t *testing.T) {
	code, printed := post(t, []byte("no protobuf"))
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Empty(t, printed)
}
