"""Conformance suites: what any journal, searcher, scheduler or executor must do, ours and yours alike.

from xstar.testing import check_searcher
check_searcher(MySearcher())        # raises AssertionError with the rule that is broken
"""

from xstar.testing.executors import check_executor as check_executor
from xstar.testing.journals import check_journal as check_journal
from xstar.testing.schedulers import check_scheduler as check_scheduler
from xstar.testing.searchers import SPACES as SPACES, check_searcher as check_searcher
