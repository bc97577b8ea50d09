"""A class loss as the C structure `ClassLoss` (class_loss.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.search.compiled.structures import Arrays, Layout, field

if TYPE_CHECKING:
    from shoal.search.layout import Prepared

CLASS_LOSS = Layout(
    "ClassLoss", ("kind", "records"), (field("share", np.float64, "attributes", "levels"),)
)
"""The fields of `ClassLoss` in class_loss.h, in their order."""


def class_loss_of_thread(prepared: Prepared) -> tuple[Any, Arrays] | None:
    """The structure, and the arrays that it points to, which must outlive it.

    None where the loss is not one of classes.
    """
    loss = prepared.class_loss
    if loss is None:
        return None
    attributes, levels = prepared.tables.base.shape
    sizes = {"attributes": attributes, "levels": levels}
    arrays = CLASS_LOSS.allocate(sizes, {"share": loss.share})
    return CLASS_LOSS.fill({"kind": loss.kind, "records": int(loss.records)}, arrays), arrays
