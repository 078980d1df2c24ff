// Pause is the first process of every pod: it holds the pod's namespaces and buries its orphans.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			os.Exit(0)
		}
		for {
			if process, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); process <= 0 || err != nil {
				break
			}
		}
	}
}
