"""Intervals, tests and corrections (metrics.md 11). Imports nothing of ours but its own modules, so every package may use it."""

from .basic import CONFIDENCE, RESAMPLES, Interval, Mean, between_run_sd, clustered_se, macro_mean, mean_of, relative_change, weighted_mean
from .bootstrap import Difference, bootstrap_mean, paired_bootstrap, unpaired_bootstrap
from .proportions import clopper_pearson, wilson
from .significance import (
    McNemar,
    SignFlip,
    SubsampleTest,
    benjamini_hochberg,
    holm,
    mcnemar,
    mcnemar_of,
    seed_subsample_ttest,
    sign_flip,
)

__all__ = [
    "CONFIDENCE",
    "RESAMPLES",
    "Difference",
    "Interval",
    "McNemar",
    "Mean",
    "SignFlip",
    "SubsampleTest",
    "benjamini_hochberg",
    "between_run_sd",
    "bootstrap_mean",
    "clopper_pearson",
    "clustered_se",
    "holm",
    "macro_mean",
    "mcnemar",
    "mcnemar_of",
    "mean_of",
    "paired_bootstrap",
    "relative_change",
    "seed_subsample_ttest",
    "sign_flip",
    "unpaired_bootstrap",
    "weighted_mean",
    "wilson",
]
