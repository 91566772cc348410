"""The probe that queries nodes; it runs beside them with the standard library and mqperf alone."""
