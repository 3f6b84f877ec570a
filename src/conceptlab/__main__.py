import sys

from conceptlab.cli import main

sys.exit(main())
