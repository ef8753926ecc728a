package bundle

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Main runs the program bundle and returns its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	command := &cobra.Command{
		Use:           "bundle",
		Short:         "Make bundles and a catalogue for the Operator Lifecycle Manager",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.AddCommand(makeCommand(), catalogCommand())
	command.SetArgs(args)
	command.SetIn(stdin)
	command.SetOut(stdout)
	command.SetErr(stderr)
	if err := command.Execute(); err != nil {
		fmt.Fprintln(stderr, "bundle:", err)
		return 1
	}
	return 0
}

func makeCommand() *cobra.Command {
	var release Release
	var base, output string
	command := &cobra.Command{
		Use:   "make --base FILE --version VERSION --output FOLDER < MANIFESTS",
		Short: "Make a bundle of the manifests of an installation",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return makeBundle(command.InOrStdin(), command.OutOrStdout(), base, output, release)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&base, "base", "", "the `FILE` with what no manifest knows")
	flags.StringVar(&release.Version, "version", "", "the `VERSION`, such as v0.6.1")
	flags.StringVar(&release.Replaces, "replaces", "", "the `VERSION` before it; without it, this is the first")
	flags.StringVar(&output, "output", "", "the `FOLDER` of the bundle")
	required(command, "base", "version", "output")
	return command
}

func makeBundle(manifests io.Reader, stdout io.Writer, base, output string, release Release) error {
	read, err := ReadBase(base)
	if err != nil {
		return err
	}
	objects, err := ReadManifests(manifests)
	if err != nil {
		return err
	}
	b, err := New(read, objects, release)
	if err != nil {
		return err
	}
	files, err := b.Files()
	if err != nil {
		return err
	}
	if err := write(output, files); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d objects beside the ClusterServiceVersion\n", b.CSV.GetName(), len(b.Objects))
	for _, object := range b.LeftOut {
		fmt.Fprintf(stdout, "  left out: %s %s. %s\n", object.GetKind(), object.GetName(), read.LeftOut[object.GetKind()])
	}
	return nil
}

func catalogCommand() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "catalog --output FILE BUNDLE...",
		Short: "Make a catalogue of bundles, each after the one that it replaces",
		RunE: func(command *cobra.Command, folders []string) error {
			var bundles []*Bundle
			for _, folder := range folders {
				b, err := Read(folder)
				if err != nil {
					return err
				}
				bundles = append(bundles, b)
			}
			content, err := Catalog(bundles)
			if err != nil {
				return err
			}
			if err := writeFile(output, content); err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "%s: the channel %s of %s, with %d versions\n", output, bundles[0].Channel, bundles[0].Package, len(bundles))
			return nil
		},
	}
	command.Flags().StringVar(&output, "output", "", "the `FILE` of the catalogue")
	required(command, "output")
	return command
}

// required marks flags that have no default. It fails only for flags that are not there.
func required(command *cobra.Command, names ...string) {
	for _, name := range names {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}
