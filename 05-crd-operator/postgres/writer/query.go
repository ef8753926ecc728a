package writer

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Query runs commands of SQL, and prints what they return: rows with a tab between two values, or
// what was done. It takes a minute at most.
func Query(ctx context.Context, config *pgconn.Config, sql string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, countWithin)
	defer cancel()
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return err
	}
	for _, result := range results {
		if len(result.FieldDescriptions) == 0 {
			fmt.Fprintln(out, result.CommandTag)
		}
		for _, row := range result.Rows {
			var values []string
			for _, value := range row {
				values = append(values, string(value))
			}
			fmt.Fprintln(out, strings.Join(values, "\t"))
		}
	}
	return nil
}
