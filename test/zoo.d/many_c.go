//go:build cgo_wanted

package main

// static int same(int n) { return n; }
import "C"

func init() {
	callC = func(n int) int { return int(C.same(C.int(n))) }
}
