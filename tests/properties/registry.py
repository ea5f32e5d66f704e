"""Which generator makes the instances of which op."""

GENERATORS = {}


class Entry:
    def __init__(self, make, oldest, storage, also):
        self.make, self.oldest, self.storage, self.also = make, oldest, storage, also


def op(*names, oldest=7, storage=False, also=()):
    """Declares a generator. names: "Relu", "com.microsoft.Gelu". oldest: the first opset whose form it
    makes. storage: the types that are stored only belong to the op too. also: versions that mean
    something else than the next one though they have its operands and attributes."""

    def add(make):
        for name in names:
            assert name not in GENERATORS, name
            GENERATORS[name] = Entry(make, oldest, storage, also)
        return make

    return add
