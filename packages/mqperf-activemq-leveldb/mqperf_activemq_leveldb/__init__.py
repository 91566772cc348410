"""A system of mqperf: ActiveMQ with replicated LevelDB, as the test plan of 2016 names it."""
