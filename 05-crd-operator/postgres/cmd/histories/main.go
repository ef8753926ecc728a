// Command histories judges histories of clients that were recorded, as by make chaos.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/history"
)

func main() {
	cli.Main(&cobra.Command{
		Use:   "histories FILE...",
		Short: "Judge what clients of a PostgresCluster have seen: is a commit lost, or a read old?",
		RunE: func(command *cobra.Command, files []string) error {
			if len(files) == 0 {
				return cli.UsageError(command, errors.New("name a file that make chaos has written, such as bin/chaos/_artifacts/.../history.jsonl"))
			}
			anomalies := 0
			for _, file := range files {
				n, err := judge(command, file)
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				anomalies += n
			}
			if anomalies > 0 {
				return fmt.Errorf("%d anomalies; each is explained above", anomalies)
			}
			return nil
		},
	})
}

func judge(command *cobra.Command, name string) (anomalies int, err error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	h, err := history.Read(file)
	if err != nil {
		return 0, err
	}
	found := history.Judge(h)
	fmt.Fprintf(command.OutOrStdout(), "%s: %s", name, history.Summary(h, found))
	return len(found), nil
}
