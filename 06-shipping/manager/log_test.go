package manager

import (
	"bytes"
	"encoding/json"
	"errors"
	"log"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

// net/http and OpenTelemetry do not know klog.
func TestEachLineOfTheLogIsAnObject(t *testing.T) {
	before, writer, flags, level := slog.Default(), log.Writer(), log.Flags(), slog.SetLogLoggerLevel(slog.LevelInfo)
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(writer)
		log.SetFlags(flags)
		slog.SetLogLoggerLevel(level)
	})
	var lines bytes.Buffer
	newLogger(&lines, Options{LogLevel: "error", Region: "coast"})
	log.Print("http: TLS handshake error")
	otel.Handle(errors.New("traces export: connection refused"))
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "long")
	otlptracehttp.NewClient()

	var messages []string
	for line := range strings.Lines(lines.String()) {
		var got struct{ Level, Msg, Region string }
		require.NoError(t, json.Unmarshal([]byte(line), &got), line)
		assert.Equal(t, "ERROR coast", got.Level+" "+got.Region)
		messages = append(messages, got.Msg)
	}
	assert.Equal(t, []string{"http: TLS handshake error", "traces export: connection refused", "parse duration"}, messages)
}
