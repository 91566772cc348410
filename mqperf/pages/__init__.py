"""How results are shown: figures, reports, views of notebooks and terminals."""
