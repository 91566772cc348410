"""How the brokers, and the ZooKeepers of some, are started."""
