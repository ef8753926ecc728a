package alerts

import (
	"fmt"
	"io"
	"os"
)

// Main runs the program alerts and returns its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "alerts: name the folder with config/prometheus and config/dashboards, and give the metrics to stdin: alerts . < metrics.log")
		return 2
	}
	exposed, err := Exposed(stdin)
	if err != nil {
		fmt.Fprintln(stderr, "alerts:", err)
		return 2
	}
	missing, err := Missing(os.DirFS(args[0]), exposed)
	if err != nil {
		fmt.Fprintln(stderr, "alerts:", err)
		return 2
	}
	if len(missing) > 0 {
		for _, sentence := range missing {
			fmt.Fprintln(stdout, sentence)
		}
		return 1
	}
	fmt.Fprintf(stdout, "Every metric that an alert or a dashboard queries is there.\n")
	return 0
}
