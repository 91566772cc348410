"""Reports in the layout of the OpenStack performance-docs: RST, figures, tables, and HTML.

``build.build(tables, out, title=...)`` writes one.  Every sentence that depends on the data is
computed from the data.
"""
