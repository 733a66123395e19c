/*
 * What Java programs do that the virtual machine makes of signals and faults: null checks, stack
 * overflows, safepoints, deoptimization; and threads, collectors, mapped files, child processes.
 * Prints nothing that depends on the order or on the time. Argument: rounds.
 */
import java.io.*;
import java.nio.*;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.*;
import java.util.stream.*;

public class Many {
	static class Node {
		Node next;
		int value;
	}

	static int depth;

	static int follow(Node node) {
		return node.next.value;
	}

	static long nullChecks(int tries) {
		Node whole = new Node(), broken = new Node();
		long caught = 0;

		whole.next = broken;
		for (int i = 0; i < tries; i++) {
			try {
				follow(i % 1000 == 0 ? broken : whole);
			} catch (NullPointerException e) {
				caught++;
			}
		}
		return caught;
	}

	static int dive() {
		depth++;
		return dive() + 1;
	}

	static int overflows(int tries) {
		int caught = 0;

		for (int i = 0; i < tries; i++) {
			try {
				dive();
			} catch (StackOverflowError e) {
				caught++;
			}
		}
		return caught;
	}

	static long work(int n) {
		Random random = new Random(n);
		Map<Integer, String> map = new HashMap<>();
		List<long[]> garbage = new ArrayList<>();

		for (int i = 0; i < 100000; i++) {
			map.put(random.nextInt(40000), "v" + i);
			garbage.add(new long[16]);
			if (garbage.size() > 20000)
				garbage.clear();
		}
		return map.entrySet().stream().mapToLong(e -> e.getKey() * e.getValue().hashCode()).sum();
	}

	static void threads(int rounds) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(4);
		List<Future<Long>> parts = new ArrayList<>();
		BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
		AtomicLong sum = new AtomicLong();
		Lock lock = new ReentrantLock();
		long[] plain = new long[1];

		for (int i = 0; i < rounds * 4; i++) {
			int n = i;
			parts.add(pool.submit(() -> work(n)));
		}
		long total = 0;
		for (Future<Long> part : parts)
			total += part.get();
		for (int i = 0; i < 2; i++)
			pool.submit(() -> {
				for (int item; (item = queue.take()) >= 0; )
					sum.addAndGet(item);
				return null;
			});
		for (int i = 0; i < 20000; i++)
			queue.put(i);
		queue.put(-1);
		queue.put(-1);
		for (int i = 0; i < 4; i++)
			pool.submit(() -> {
				for (int k = 0; k < 20000; k++) {
					lock.lock();
					plain[0]++;
					lock.unlock();
				}
			});
		pool.shutdown();
		System.out.println("threads " + total + " " + pool.awaitTermination(60, TimeUnit.SECONDS) +
			" " + sum + " " + plain[0]);
		System.out.println("parallel " +
			IntStream.range(0, 3000000).parallel().mapToLong(i -> i % 7).sum());
		for (int i = 0; i < 300; i++) {
			Thread t = new Thread(() -> depth++);
			t.start();
			t.join();
		}
	}

	static void waits() throws Exception {
		long start = System.nanoTime();
		Thread sleeper = new Thread(() -> {
			try {
				Thread.sleep(60000);
			} catch (InterruptedException e) {
				System.out.println("interrupted");
			}
		});

		sleeper.start();
		Thread.sleep(150);
		sleeper.interrupt();
		sleeper.join();
		LockSupport.parkNanos(50000000);
		System.out.println("slept " + (System.nanoTime() - start >= 150000000));
	}

	static void processes() throws Exception {
		int sum = 0;

		for (int i = 0; i < 15; i++)
			sum += new ProcessBuilder("sh", "-c", "exit " + i).start().waitFor();
		Process cat = new ProcessBuilder("cat").start();
		byte[] data = new byte[500000];
		Thread writer = new Thread(() -> {
			try (OutputStream out = cat.getOutputStream()) {
				out.write(data);
			} catch (IOException e) {
				System.out.println(e);
			}
		});

		writer.start();
		System.out.println("processes " + sum + " " + cat.getInputStream().readAllBytes().length);
	}

	static void mapped() throws Exception {
		Path path = Files.createTempFile("many", ".bin");
		String how = "none";

		try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			MappedByteBuffer buffer = file.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 16);
			file.truncate(0);
			buffer.get(9000);
		} catch (InternalError e) {
			how = "error";
		}
		Files.delete(path);
		System.out.println("mapped " + how);
	}

	public static void main(String[] args) throws Exception {
		int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 6;

		Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
		System.out.println("null checks " + nullChecks(rounds * 500000));
		System.out.println("overflows " + overflows(50));
		threads(rounds);
		waits();
		processes();
		mapped();
		System.gc();
		System.out.println("work " + work(99));
		System.exit(5);
	}
}
