"""Supported ops that have no random instances here, each with the reason."""

# Cases of an op that are left out are excluded where it is generated, with the reason there.
EXCLUDED = {}
