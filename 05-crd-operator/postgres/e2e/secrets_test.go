package e2e

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wrongPassword is PostgreSQL's code for that.
const wrongPassword = "28P01"

// changesPassword changes the password of the applications in its Secret, as people do, while a
// writer goes on. No pod is made again.
func (e *env) changesPassword(w *writer) {
	e.Helper()
	pods, old := e.pods(), e.newDialerOf("app", name, name+"-app")
	e.kubectl("patch", "secret", name+"-app", "--patch", `{"stringData":{"password":"changed"}}`)
	now := e.newDialerOf("app", name, name+"-app")
	require.Equal(e, "changed", now.password)
	eventually(e, "the new password is admitted", func() error {
		s, err := now.dial(e.Context(), w.address)
		if err != nil {
			return err
		}
		defer s.close()
		_, err = s.query(e.Context(), "SELECT 1")
		return err
	})
	_, err := old.dial(e.Context(), w.address)
	refused, ok := errors.AsType[*pgconn.PgError](err)
	require.True(e, ok, "%v", err)
	assert.Equal(e, wrongPassword, refused.Code)
	w.goesOn()
	assert.Equal(e, pods, e.pods())
	encrypted, err := w.ask(e.Context(), "SELECT DISTINCT coalesce(version, 'none') FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_addr IS NOT NULL")
	require.NoError(e, err)
	assert.Equal(e, [][]string{{"TLSv1.3"}}, encrypted, "of members and clients")
}
