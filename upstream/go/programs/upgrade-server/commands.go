package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	utilexec "k8s.io/utils/exec"
)

// runCommand is what there is instead of a container's shell:
//
//	cat               standard input to standard output
//	sha256            reads standard input to its end, then writes its hash: needs half-close
//	pattern BYTES     writes so many bytes of a fixed pattern
//	whoami            the caller's user and groups, as the server was told
//	stderr TEXT       writes to standard error
//	exit CODE         ends with this code
func runCommand(caller string, cmd []string, in io.Reader, out, errOut io.Writer) error {
	if len(cmd) == 0 {
		return fmt.Errorf("no command")
	}
	argument := ""
	if len(cmd) > 1 {
		argument = cmd[1]
	}
	switch cmd[0] {
	case "cat":
		_, err := io.Copy(out, in)
		return err
	case "sha256":
		return writeHash(out, in)
	case "pattern":
		bytes, err := strconv.ParseInt(argument, 10, 64)
		if err != nil {
			return err
		}
		return writePattern(out, bytes)
	case "whoami":
		_, err := fmt.Fprintln(out, caller)
		return err
	case "stderr":
		_, err := fmt.Fprintln(errOut, argument)
		return err
	case "exit":
		code, err := strconv.Atoi(argument)
		if err != nil {
			return err
		}
		return utilexec.CodeExitError{Err: fmt.Errorf("exit %d", code), Code: code}
	default:
		return utilexec.CodeExitError{Err: fmt.Errorf("%s: no such command", cmd[0]), Code: 127}
	}
}

// writeHash writes the SHA-256 of all that in holds, in hexadecimal and with a line end.
func writeHash(out io.Writer, in io.Reader) error {
	hash := sha256.New()
	if _, err := io.Copy(hash, in); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%x\n", hash.Sum(nil))
	return err
}

// writePattern writes bytes that a client can make itself: the little-endian counter of 8-byte words.
func writePattern(out io.Writer, bytes int64) error {
	buffer := make([]byte, 32<<10)
	for word := uint64(0); bytes > 0; {
		for at := 0; at < len(buffer); at += 8 {
			binary.LittleEndian.PutUint64(buffer[at:], word)
			word++
		}
		chunk := buffer[:min(int64(len(buffer)), bytes)]
		if _, err := out.Write(chunk); err != nil {
			return err
		}
		bytes -= int64(len(chunk))
	}
	return nil
}
