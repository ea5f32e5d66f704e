"""Which generator makes the instances of which op."""

GENERATORS = {}


class Entry:
    def __init__(self, make, oldest, storage, also, weight):
        self.make, self.oldest, self.storage, self.also, self.weight = make, oldest, storage, also, weight


def op(*names, oldest=7, storage=False, also=(), weight=1):
    """Declares a generator. names: "Relu", "com.microsoft.Gelu". oldest: the first opset whose form it
    makes. storage: the types that are stored only belong to the op too. also: versions that mean
    something else than the next one though they have its operands and attributes. weight: how many times
    as many instances as of another op, where there are many element types and forms."""

    def add(make):
        for name in names:
            assert name not in GENERATORS, name
            GENERATORS[name] = Entry(make, oldest, storage, also, weight)
        return make

    return add
