"""How the brokers, the ZooKeepers of some, and loads in their protocols are started."""
