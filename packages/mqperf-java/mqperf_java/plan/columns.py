"""The columns of settings of a Java virtual machine, by which they may be lists."""

from mqperf.plan.columns.column import Column, parameter, text

HEAP_MB = parameter(
    Column("heap_mb", "Int64", "Heap of each Java virtual machine.", "heap", "MB", check="positive")
)
JAVA_OPTIONS = parameter(
    text("java_options", "Further options of the Java virtual machines.", "Java options")
)
