"""The rows of the tables: changes of a small project, and the edits that make them."""

from dataclasses import dataclass, field


@dataclass
class Change:
    """One change, and the gate that judges it: one of the names in run.GATES."""

    is_fake: bool
    name: str
    gate: str
    edits: list
    run: list = field(default_factory=list)


def fake(name, gate, *edits, run=()):
    """A change whose tests are green although they show nothing, or less than before."""
    return Change(True, name, gate, flat(edits), list(run))


def honest(name, gate, *edits, run=()):
    """A change that a gate must let pass."""
    return Change(False, name, gate, flat(edits), list(run))


def flat(edits):
    return [one for edit in edits for one in (flat(edit) if isinstance(edit, list) else [edit])]


def put(path, text):
    """Writes a file."""

    def edit(project):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text)

    return edit


def add(path, text):
    """Writes text at the end of a file."""
    return lambda project: put(path, (project / path).read_text() + text)(project)


def sub(path, old, new):
    """Replaces text that is once in a file."""

    def edit(project):
        text = (project / path).read_text()
        assert text.count(old) == 1, f"{path} has {text.count(old)} times {old!r}"
        put(path, text.replace(old, new))(project)

    return edit


def gone(path):
    """Removes a file."""
    return lambda project: (project / path).unlink()


def move(path, to):
    """Moves a file."""

    def edit(project):
        put(to, (project / path).read_text())(project)
        gone(path)(project)

    return edit
