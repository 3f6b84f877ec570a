"""Speed, as ratios measured in one run on one machine. The numbers we publish are in `benchmarks/README.md`."""

from conceptlab.bench.measure import Case, machine
from conceptlab.bench.sampling import bench_sample
from conceptlab.bench.table import bench_table, case_line
from conceptlab.bench.training import bench_train

__all__ = ["Case", "bench_sample", "bench_table", "bench_train", "case_line", "machine"]
