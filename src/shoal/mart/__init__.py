"""Data marts: several linked sources, one request, one safe release.

A *catalog* names sources, how they are linked, what each shares, and the policy. A *request* asks
for some columns and records; in its release every class of each source has k persons. Read first
`pipeline`, a request on one page, then `catalog`, `request` and `policy`, the models. Then:

- The files: `read` (`conditions`, `lookups`, `expressions`, `xml_read`, `explain`), their mistakes
  (`mistakes`, `link_mistakes`, `derived_mistakes`, `validate`); `write` and `xml_write`.
- The sources: `sources` and `opened`, `linking` joins them; `check` and `check_view`; `describe`.
- The release: `selection`, `subrequests`, `anonymise`, `rows`, `local_classes`, `kept`; then
  `releasing`, `overwriting`, `passing`, `verifying`, `result`.
- The log: `recording`, `log`, `log_chain`, `log_view`; releases are compared in `overlap` and
  `comparing`, by their `recipe` on the data of now (`reapply`, `applied`, `cells`).
- Without a release: `inspecting`, and `preview` of what a request would get.
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
