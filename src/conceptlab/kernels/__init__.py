"""Special kernels, each behind a plain equivalent; a test checks that both agree."""
