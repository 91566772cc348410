"""The program beside the broker, with parts of ``mqperf.load.amqp_0_9_1.inside``."""
