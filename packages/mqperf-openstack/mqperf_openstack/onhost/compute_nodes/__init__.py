"""The program beside the broker, with parts of ``mqperf_amqp_0_9_1.onhost``."""
