"""Instances of an op, from its schema: the newest form, and the older forms that differ from it."""

import zlib

from onnx import defs

from case import Case
from foreign import SCHEMAS
from registry import GENERATORS

NEWEST = defs.onnx_opset_version()
OLDER_COUNT = 5  # instances of each older form


def split(name):
    """"com.microsoft.Gelu" -> ("com.microsoft", "Gelu")."""
    domain, _, op = name.rpartition(".")
    return domain, op


def form(schema):
    """What a generator has to know of a version: two versions with the same form differ in types only."""
    return (tuple((i.name, i.option) for i in schema.inputs), tuple(sorted(schema.attributes)))


def versions(name):
    """(schema, count weight) of the newest form, then one schema per older form."""
    domain, op = split(name)
    if name in SCHEMAS:
        return [SCHEMAS[name]]
    history = sorted((s for s in defs.get_all_schemas_with_history()
                      if s.domain == domain and s.name == op), key=lambda s: -s.since_version)
    oldest = GENERATORS[name].oldest
    kept = []
    for schema in history:
        if (schema.deprecated and schema.since_version not in GENERATORS[name].also) or (
                kept and schema.since_version < oldest):
            continue
        also = schema.since_version in GENERATORS[name].also
        if not kept or also or form(schema) != form(kept[-1]):
            kept.append(schema)
    return kept


def import_version(schema, newest):
    """The opset that a model with this version of the op imports."""
    return NEWEST if newest or schema.domain else schema.since_version


def seed_of(seed, name, version, index):
    return [seed, zlib.crc32(name.encode()), version, index]


def make(name, schema, opset, index, seed):
    entry = GENERATORS[name]
    case = Case(schema, index, seed_of(seed, name, schema.since_version, index), entry.storage)
    case.name, case.opset = name, opset
    case.finish(entry.make(case))
    return case


def groups(name, count):
    """(schema, opset, indices) per model: one per form of the op."""
    found = versions(name)
    out = []
    for position, schema in enumerate(found):
        newest = position == 0 and is_newest(schema)
        number = count * GENERATORS[name].weight if position == 0 else min(OLDER_COUNT, count)
        out.append((schema, import_version(schema, newest), range(number)))
    return out


def is_newest(schema):
    if schema in SCHEMAS.values():
        return True
    try:
        return defs.get_schema(schema.name, NEWEST, schema.domain).since_version == schema.since_version
    except defs.SchemaError:
        return False
