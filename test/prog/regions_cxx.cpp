// Regions by scope, however it is left.
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "nvmemu.h"

extern "C" {
#include "work.h"
}

static void throws()
{
	nvmemu::region region("throws");
	nvmemu::pause pause;
	work_ms(20);
	throw std::runtime_error("out of here");
}

int main()
{
	nvmemu::region main_region("main");

	for (int i = 0; i < 3; i++) {
		try {
			throws();
		} catch (const std::runtime_error &) {
		}
	}
	std::thread([] {
		nvmemu::region region("thread");
		work_ms(20);
	}).join();
	return 0;
}
