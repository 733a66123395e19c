// Standard C++ threads: mutexes, condition variables, futures, thread-local objects, exceptions
// that cross a thread's end. Argument: items. Prints sums that do not depend on the order.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <queue>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

class queue
{
      public:
	void put(long item)
	{
		std::unique_lock<std::mutex> lock(mutex_);
		has_room_.wait(lock, [this] { return items_.size() < 16; });
		items_.push(item);
		has_item_.notify_one();
	}

	long get()
	{
		std::unique_lock<std::mutex> lock(mutex_);
		has_item_.wait(lock, [this] { return !items_.empty(); });
		long item = items_.front();
		items_.pop();
		has_room_.notify_one();
		return item;
	}

      private:
	std::mutex mutex_;
	std::condition_variable has_item_, has_room_;
	std::queue<long> items_;
};

std::atomic<int> alive;

struct counted {
	counted() { alive++; }
	~counted() { alive--; }
	long value = 0;
};

thread_local counted own;

long hand_over(long items)
{
	queue q;
	std::atomic<long> sum{0};
	std::vector<std::thread> consumers;

	for (int i = 0; i < 3; i++)
		consumers.emplace_back([&] {
			while (long item = q.get())
				own.value += item;
			sum += own.value;
		});
	for (long i = 1; i <= items; i++)
		q.put(i);
	for (size_t i = 0; i < consumers.size(); i++)
		q.put(0);
	for (auto &consumer : consumers)
		consumer.join();
	return sum;
}

long count_words(long items)
{
	std::map<std::string, long> counts;
	std::shared_mutex mutex;
	auto work = [&](long begin) {
		for (long i = begin; i < items; i += 4) {
			std::string word = "w" + std::to_string(i * 7919 % 1009);
			{
				std::shared_lock<std::shared_mutex> lock(mutex);
				if (counts.count(word) && counts[word] < 0)
					std::abort();
			}
			std::unique_lock<std::shared_mutex> lock(mutex);
			counts[word]++;
		}
		return begin;
	};
	std::vector<std::future<long>> parts;

	for (long i = 0; i < 4; i++)
		parts.push_back(std::async(std::launch::async, work, i));
	for (auto &part : parts)
		part.get();
	return std::accumulate(counts.begin(), counts.end(), 0L,
			       [](long sum, auto &entry) { return sum * 31 + entry.second; });
}

int count_exceptions(int tries)
{
	int caught = 0;

	for (int i = 0; i < tries; i++) {
		auto part = std::async(std::launch::async, [i] {
			if (i % 2)
				throw std::runtime_error("odd");
			std::this_thread::sleep_for(std::chrono::microseconds(50));
		});
		try {
			part.get();
		} catch (const std::runtime_error &) {
			caught++;
		}
	}
	return caught;
}

bool sorts(long items)
{
	std::vector<unsigned> values(static_cast<size_t>(items) * 10);
	unsigned seed = 1;

	for (auto &value : values)
		value = seed = seed * 1664525u + 1013904223u;
	std::sort(values.begin(), values.end());
	return std::is_sorted(values.begin(), values.end());
}

bool waits_its_time()
{
	using namespace std::chrono;
	std::mutex mutex;
	std::condition_variable never;
	std::unique_lock<std::mutex> lock(mutex);
	auto start = steady_clock::now();
	auto why = never.wait_for(lock, milliseconds(100), [] { return false; });

	return !why && steady_clock::now() - start >= milliseconds(100);
}

} // namespace

int main(int argc, char **argv)
{
	long items = argc > 1 ? std::atol(argv[1]) : 10000;

	std::printf("handed over: %ld\n", hand_over(items));
	std::printf("words: %ld\n", count_words(items));
	std::printf("exceptions: %d\n", count_exceptions(200));
	std::printf("sorted: %d\n", sorts(items));
	std::printf("waited: %d\n", waits_its_time());
	std::printf("left alive: %d\n", alive - (own.value == 0));
	return 5;
}
