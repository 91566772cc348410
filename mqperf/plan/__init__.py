"""Plans: what to measure, and every point of the sweep.

A plan names systems, test cases and a load; ``Plan.cases()`` expands them into frozen ``Case``
objects.  A case's id is a readable slug and a hash of its parameters, so that a changed parameter
makes a new case, and a repeated command finds its existing runs.
"""

from mqperf.plan.actions import ActionPlan
from mqperf.plan.agreement import MAX_CASES, MAX_THREADS
from mqperf.plan.background import AFTER_S, BEFORE_S, BackgroundLoad
from mqperf.plan.case import ID_DEFAULTS, Case, CaseParameters, deployments
from mqperf.plan.conditions import Condition
from mqperf.plan.decide import MOST, Comparison, DecidePlan, Decision
from mqperf.plan.experiment import Plan, SystemPlan, compared
from mqperf.plan.fail_when import CONDITIONS, FailWhen
from mqperf.plan.latencies import LATENCIES, PERCENTILES, SHARES
from mqperf.plan.link import LinkPlan, LinkPoint, statistically_known, tolerances
from mqperf.plan.load_plan import LoadPlan
from mqperf.plan.pace import COUNT, RAMP, RATE, offered_msg_s
from mqperf.plan.search import Bracket, Hold, Search, SearchPlan, Verdict, rate_and_repeat
from mqperf.plan.sense import nonsense
from mqperf.plan.settings import redacted, swept_settings, worded
from mqperf.plan.values import Frozen, Misplaced, Scalar, strictly

__all__ = [
    "AFTER_S",
    "BEFORE_S",
    "CONDITIONS",
    "COUNT",
    "ID_DEFAULTS",
    "LATENCIES",
    "MAX_CASES",
    "MAX_THREADS",
    "MOST",
    "PERCENTILES",
    "RAMP",
    "RATE",
    "SHARES",
    "ActionPlan",
    "BackgroundLoad",
    "Bracket",
    "Case",
    "CaseParameters",
    "Comparison",
    "Condition",
    "DecidePlan",
    "Decision",
    "FailWhen",
    "Frozen",
    "Hold",
    "LinkPlan",
    "LinkPoint",
    "LoadPlan",
    "Misplaced",
    "Plan",
    "Scalar",
    "Search",
    "SearchPlan",
    "SystemPlan",
    "Verdict",
    "compared",
    "deployments",
    "nonsense",
    "offered_msg_s",
    "rate_and_repeat",
    "redacted",
    "statistically_known",
    "strictly",
    "swept_settings",
    "tolerances",
    "worded",
]
