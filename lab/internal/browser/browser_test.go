package browser

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestKeepOut(t *testing.T) {
	handler := KeepOut(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"127.0.0.1:10248":              http.StatusOK,
		"127.0.0.2":                    http.StatusOK,
		"localhost:10248":              http.StatusOK,
		"LocalHost":                    http.StatusOK,
		"[::1]:10248":                  http.StatusOK,
		"[::ffff:127.0.0.1]":           http.StatusOK,
		"":                             http.StatusMisdirectedRequest,
		"evil.example:10248":           http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example:10248": http.StatusMisdirectedRequest,
		"localhost.evil.example":       http.StatusMisdirectedRequest,
		"evil.example:@127.0.0.1":      http.StatusMisdirectedRequest,
		"192.0.2.1:10248":              http.StatusMisdirectedRequest,
		"0.0.0.0:10248":                http.StatusMisdirectedRequest,
	} {
		t.Run(host, func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", nil)
			request.Host = host
			response := httptest.NewRecorder()
			handler.ServeHTTP(response, request)
			assert.Equal(t, want, response.Code)
		})
	}
}
