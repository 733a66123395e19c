// Threads of C++: what its library makes of mutexes, conditions, futures and futexes.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <latch>
#include <mutex>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

extern "C" {
#include "work.h"
}

namespace
{
std::mutex lock;
std::condition_variable filled;
std::queue<int> queue;
std::shared_mutex shared;
std::counting_semaphore<8> slots(0);
std::atomic<int> turn{0};

long consume(int items)
{
	long sum = 0;

	while (items--) {
		std::unique_lock<std::mutex> held(lock);
		filled.wait(held, [] { return !queue.empty(); });
		sum += queue.front();
		queue.pop();
		held.unlock();
		slots.release();
	}
	return sum;
}

void take_turns(int self, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		for (int now; (now = turn.load()) % 2 != self;)
			turn.wait(now);
		work_ms(1);
		turn++;
		turn.notify_all();
	}
}
} // namespace

int main()
{
	constexpr int items = 300;
	std::latch start(2);
	auto sum = std::async(std::launch::async, [&] {
		start.arrive_and_wait();
		return consume(items);
	});
	std::vector<std::thread> threads;

	start.arrive_and_wait();
	for (int i = 0; i < items; i++) {
		work_ms(1);
		std::lock_guard<std::mutex> held(lock);
		queue.push(i);
		filled.notify_one();
	}
	for (int i = 0; i < items; i++)
		slots.acquire();
	for (int i = 0; i < 2; i++)
		threads.emplace_back(take_turns, i, 50);
	for (auto &thread : threads)
		thread.join();
	std::shared_lock<std::shared_mutex> reader(shared);
	CHECK(!shared.try_lock());
	std::printf("%ld %d\n", sum.get(), turn.load());
}
