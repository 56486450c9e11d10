// SPDX-License-Identifier: GPL-2.0
/* std::set for the bench of decisions; see pick.c. */
#include <cstdint>
#include <set>
#include <utility>

namespace {

using key = std::pair<std::uint64_t, void *>;

struct wraps {
	bool operator()(const key &a, const key &b) const
	{
		if (a.first != b.first)
			return static_cast<std::int64_t>(a.first - b.first) < 0;
		return a.second < b.second;
	}
};

using ordered = std::set<key, wraps>;

}

extern "C" {

void *bench_set_create()
{
	return new ordered;
}

void bench_set_destroy(void *set)
{
	delete static_cast<ordered *>(set);
}

void bench_set_add(void *set, std::uint64_t at, void *entity)
{
	static_cast<ordered *>(set)->emplace(at, entity);
}

void bench_set_remove(void *set, std::uint64_t at, void *entity)
{
	static_cast<ordered *>(set)->erase(key(at, entity));
}

void *bench_set_take_first(void *set)
{
	auto *all = static_cast<ordered *>(set);
	auto first = all->begin();
	void *entity;

	if (first == all->end())
		return nullptr;
	entity = first->second;
	all->erase(first);
	return entity;
}

}
