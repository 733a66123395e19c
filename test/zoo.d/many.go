// What Go programs do with goroutines, channels, timers, signals and child processes. Prints
// nothing that depends on the order or on the time.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Set where the program is linked with the C library.
var callC = func(n int) int { return n }

func work(n int) int {
	m := map[int]string{}
	seed := uint32(n)
	for i := 0; i < 100000; i++ {
		seed = seed*1103515245 + 12345
		m[int(seed>>8)%30011] = fmt.Sprint(i)
	}
	sum := 0
	for k, v := range m {
		sum += k * len(v)
	}
	return sum
}

func fault() (caught bool) {
	defer func() { caught = recover() != nil }()
	var p *[4]int
	return p[2] == 0
}

func main() {
	runtime.GOMAXPROCS(4)
	sums := make([]int, 16)
	var group sync.WaitGroup
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			sums[i] = work(i)
		}(i)
	}
	group.Wait()
	fmt.Println("work", sums)

	in, out := make(chan int), make(chan int)
	go func() {
		sum := 0
		for n := range in {
			sum += n
		}
		out <- sum
	}()
	for i := 0; i < 100000; i++ {
		in <- i
	}
	close(in)
	fmt.Println("channel", <-out)

	caught := 0
	for i := 0; i < 1000; i++ {
		if fault() {
			caught++
		}
	}
	fmt.Println("faults", caught)

	c := make(chan os.Signal, 9)
	signal.Notify(c, syscall.SIGUSR1)
	for i := 0; i < 3; i++ {
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		<-c
	}
	start := time.Now()
	time.Sleep(200 * time.Millisecond)
	fmt.Println("slept", time.Since(start) >= 200*time.Millisecond)

	for i := 0; i < 20; i++ {
		if exec.Command("sh", "-c", "exit 3").Run().(*exec.ExitError).ExitCode() != 3 {
			fmt.Println("status", i)
		}
	}
	text, err := exec.Command("echo", "child").CombinedOutput()
	fmt.Println(string(text), err)

	sum := 0
	for i := 0; i < 200000; i++ {
		sum += callC(i)
	}
	runtime.GC()
	fmt.Println("calls", sum)
	os.Exit(5)
}
