"""The program beside the broker, with parts of ``mqperf.onhost.load.amqp_0_9_1``."""
