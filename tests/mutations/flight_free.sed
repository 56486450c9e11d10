# SPDX-License-Identifier: GPL-2.0
# what: memory of flights that units share is charged to nobody
# file: flight.h
# lane: lab
# tests: dispatch_limit
/define SOFT_GFP_SPARE/s/~__GFP_RETRY_MAYFAIL/~(__GFP_RETRY_MAYFAIL | __GFP_ACCOUNT)/
