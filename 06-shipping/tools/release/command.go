package release

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"
)

// timeout is for a registry that takes a connection and does not answer.
const timeout = 5 * time.Minute

// Main runs the program release and returns its exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	command := &cobra.Command{
		Use:           "release",
		Short:         "Push an image, sign it, and verify what others have signed",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.AddCommand(keysCommand(), pushCommand(), signCommand(), verifyCommand())
	command.CompletionOptions.DisableDefaultCmd = true
	command.SetArgs(args)
	command.SetOut(stdout)
	err := command.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(ctx.Err(), context.Canceled):
		fmt.Fprintln(stderr, "release: interrupted; run it again, what is uploaded is kept")
		return 130
	}
	fmt.Fprintln(stderr, "release:", err)
	return 1
}

func keysCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "keys FOLDER",
		Short: "Make a key pair: " + privateFile + ", to sign, and " + publicFile + ", to verify",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := writeKeys(args[0]); err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "made %s, which nobody else may read, and %s\n",
				filepath.Join(args[0], privateFile), filepath.Join(args[0], publicFile))
			return nil
		},
	}
}

func pushCommand() *cobra.Command {
	var sbomPath string
	command := &cobra.Command{
		Use:   "push ARCHIVE REPOSITORY",
		Short: "Push an image with its SBOM, and print its name by digest",
		Args:  cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return withBuilt(args, sbomPath, func(repo name.Repository, b built) error {
				image, err := push(command.Context(), repo, b)
				if err == nil {
					fmt.Fprintln(command.OutOrStdout(), image)
				}
				return err
			})
		},
	}
	addSBOM(command, &sbomPath)
	return command
}

func signCommand() *cobra.Command {
	var sbomPath, keyPath string
	command := &cobra.Command{
		Use:   "sign ARCHIVE REPOSITORY --key=" + privateFile,
		Short: "Sign an image that was pushed, and from what it was built",
		Args:  cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return withBuilt(args, sbomPath, func(repo name.Repository, b built) error {
				image, err := sign(command.Context(), repo, b, keyPath)
				if err == nil {
					fmt.Fprintf(command.OutOrStdout(), "signed %s\n", image)
				}
				return err
			})
		},
	}
	addSBOM(command, &sbomPath)
	addKey(command, &keyPath, "the private key, "+privateFile)
	return command
}

func verifyCommand() *cobra.Command {
	var keyPath, revision string
	command := &cobra.Command{
		Use:   "verify REPOSITORY:TAG|REPOSITORY@DIGEST --key=" + publicFile,
		Short: "Verify the signature of an image, its provenance and its SBOM",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ref, err := name.ParseReference(args[0], name.StrictValidation)
			if err != nil {
				return fmt.Errorf("%q names no image in a registry; write one such as 127.0.0.1:5050/cnat-manager:v0.6.0", args[0])
			}
			key, err := readPublic(keyPath)
			if err != nil {
				return err
			}
			v, err := verify(command.Context(), ref, key, revision)
			if err != nil {
				return err
			}
			der, err := x509.MarshalPKIXPublicKey(key)
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "verified %s\n  signature:  by the key SHA256:%x\n  provenance: commit %s, built by %s\n  SBOM:       %s, %d libraries\n",
				v.image, sha256.Sum256(der), v.provenance.revision(), v.provenance.RunDetails.Builder.ID, v.sbom, v.libraries)
			return nil
		},
	}
	addKey(command, &keyPath, "the public key, "+publicFile)
	command.Flags().StringVar(&revision, "revision", "", "the commit that the image has to be built from (default: any)")
	return command
}

func addSBOM(command *cobra.Command, path *string) {
	command.Flags().StringVar(path, "sbom", "", "the SBOM (default: the .cdx.json beside the archive)")
}

func addKey(command *cobra.Command, path *string, usage string) {
	command.Flags().StringVar(path, "key", "", usage)
	_ = command.MarkFlagRequired("key") // it fails for a flag that does not exist
}

// withBuilt reads the two arguments ARCHIVE and REPOSITORY.
func withBuilt(args []string, sbomPath string, use func(name.Repository, built) error) error {
	// Without a registry in it, a name would be Docker Hub's.
	repo, err := name.NewRepository(args[1], name.StrictValidation)
	if err != nil {
		return fmt.Errorf("%q names no repository in a registry; write one such as 127.0.0.1:5050/cnat-manager", args[1])
	}
	return readBuilt(args[0], sbomPath, func(b built) error { return use(repo, b) })
}
