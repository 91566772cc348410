"""What plans may ask for in a version, and RabbitMQ so."""
