"""The columns of the settings of a Java virtual machine, which may be lists in plans."""

from mqperf.plan.columns.column import Column, parameter, text

HEAP_MB = parameter(
    Column("heap_mb", "Int64", "Heap of each Java virtual machine.", "heap", "MB", check="positive")
)
JAVA_OPTIONS = parameter(
    text("java_options", "Further options of the Java virtual machines.", "Java options")
)
