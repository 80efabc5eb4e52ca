"""Numbers about probabilities: ``seminaive.metrics.NAME(y, probability, ...)``.

``y`` holds what happened, ``probability`` what was predicted for rows the model has not seen, as ``predict_proba``
gives it; with labels, ``classes=model.classes_``. The pictures are in `seminaive.plot`.
"""

from seminaive.evaluate.calibration import (
    ReliabilityCurve,
    brier_score,
    expected_calibration_error,
    log_loss_bits,
    reliability_curve,
)
from seminaive.evaluate.lift import LiftCurve, ProfitCurve, lift_curve, profit_curve

__all__ = [
    "LiftCurve",
    "ProfitCurve",
    "ReliabilityCurve",
    "brier_score",
    "expected_calibration_error",
    "lift_curve",
    "log_loss_bits",
    "profit_curve",
    "reliability_curve",
]
