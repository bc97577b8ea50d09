"""Data marts: several linked sources, one request, one safe release.

A *catalog* names sources, what identifies a person, how the sources are linked, which columns each
shares, and the policy. A *request* asks for some of these columns and records; its answer is one
release, in which every class of each source's quasi-identifiers has k persons.

Read in this order:

- pipeline.py: a request from beginning to end, on one page.
- catalog.py and request.py: the models of the two files; policy.py: what a request may ask for.
- read.py reads them (with conditions.py, lookups.py, xml_read.py, explain.py); mistakes.py,
  link_mistakes.py and derived_mistakes.py find what is wrong; write.py and xml_write.py go back
  to text.
- check.py and check_view.py check a catalog against its sources; describe.py shows it without any
  records.
- expressions: the small language of derived columns.
- selection.py: what conditions select; subrequests.py: what a request asks of each source.
- sources.py opens the sources; linking joins them to one table.
- anonymise.py and rows.py: levels for each source, and the rows that can be released.
- local_classes.py: in local recoding the class of each tuple, also for the log.
- releasing.py, passing.py and verifying.py: the release is written and verified; result.py.
- recording.py and log.py: the record of all requests; overlap.py compares releases.
- validate.py: the mistakes of a request that its catalog shows; preview.py: what it would release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.calling.lazy_package import import_when_used

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog
    from shoal.mart.inspecting import check, check_log, describe, log
    from shoal.mart.log import Log
    from shoal.mart.pipeline import request
    from shoal.mart.preview import Estimate, Preview, estimate, preview
    from shoal.mart.read import (
        catalog_from_mapping,
        read_catalog,
        read_request,
        request_from_mapping,
    )
    from shoal.mart.request import Request
    from shoal.mart.result import MartResult
    from shoal.mart.validate import request_mistakes

_MODULES = {
    "Catalog": "catalog",
    "Estimate": "preview",
    "Log": "log",
    "MartResult": "result",
    "Preview": "preview",
    "Request": "request",
    "catalog_from_mapping": "read",
    "check": "inspecting",
    "check_log": "inspecting",
    "describe": "inspecting",
    "estimate": "preview",
    "log": "inspecting",
    "preview": "preview",
    "read_catalog": "read",
    "read_request": "read",
    "request": "pipeline",
    "request_from_mapping": "read",
    "request_mistakes": "validate",
}

__all__ = [
    "Catalog",
    "Estimate",
    "Log",
    "MartResult",
    "Preview",
    "Request",
    "catalog_from_mapping",
    "check",
    "check_log",
    "describe",
    "estimate",
    "log",
    "preview",
    "read_catalog",
    "read_request",
    "request",
    "request_from_mapping",
    "request_mistakes",
]

import_when_used(__name__, _MODULES)
