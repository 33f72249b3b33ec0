# SPDX-License-Identifier: Apache-2.0
"""The Python package as pages of the site: signatures and docstrings of every public name, read from the sources without importing them.

As a hook of mkdocs it adds reference/python_api.md (nudge, nudge.devices) and reference/python_api_modules.md (nudge.plot, nudge.torch, nudge.jax). A
public name without a docstring is an error. Names of the compiled module have the text that python/src/*.cpp gives them.

    python3 tools/docs/python_reference.py --check     # without mkdocs: every name has a docstring and is on a page
    python3 tools/docs/python_reference.py nudge       # prints the page of a module
"""
import ast
import pathlib
import re
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # mkdocs loads hooks by their file
import generated  # noqa: E402
from generated import ROOT  # noqa: E402

PACKAGE, CORE = ROOT / "python" / "nudge", ROOT / "python" / "src"

#: Names of nudge by what they are for, in the order of the page. `problems` holds it against nudge.__all__.
GROUPS = {
    "Studies": ["train", "resume", "gradcheck", "sweep", "spec", "merge", "effects"],
    "Results": ["open", "Run", "Gradcheck", "Effect"],
    "Networks and arrays": ["Network", "Crossbar", "Netlist"],
    "Parts of your own": ["Board", "Dynamics", "EnergyDynamics", "SquaredError", "Cost", "Estimator", "settle", "estimate", "check"],
    "Configs and the build": ["resolve", "keys", "estimators", "presets", "build"],
    "Errors": ["Error", "InputError", "NumericalError", "OutputError", "InternalError"],
}
GIVEN = {"Run", "Gradcheck", "Effect", "Calibration"}  # results: nobody makes them by hand
MODULES = {"devices": ["Device", "list", "show", "characterize", "fit"],
           "board": ["SimulatedBoard", "Nudge", "Calibration", "calibrate", "Twin", "Recorded", "export_targets", "export_program", "export_vectors"]}  # of nudge.__all__, on the page of nudge
PAGES = {
    "python_api": ("nudge", "Classes and functions of `nudge`, `nudge.devices` and `nudge.board`. [nudge from Python](python.md) shows them at work."),
    "python_api_modules": ("nudge.plot, nudge.torch, nudge.jax",
                           "Modules with requirements of their own: matplotlib, PyTorch, JAX. [Figures](python.md#figures) and "
                           "[PyTorch](../how_to/pytorch.md) show them at work."),
}
EXTRA = ["plot", "torch", "jax"]  # of the second page


def tree(module):
    return ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))


def listed(module):
    """The names in __all__ of a module, or its public functions and classes."""
    body = tree(module).body
    for node in body:
        if isinstance(node, ast.Assign) and any(getattr(one, "id", "") == "__all__" for one in node.targets):
            return ast.literal_eval(node.value)
    return [node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")]


def origins():
    """{name: module} of what nudge/__init__.py imports; _core for what is compiled."""
    found = {}
    for node in tree("__init__").body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            found.update({one.asname or one.name: node.module for one in node.names})
    return found


def compiled(name):
    """(signature, docstring) of a function of the compiled module, from its definition m.def("name", ..., "docstring")."""
    for path in sorted(CORE.glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        found = re.search(rf'm\.def\(\s*"{name}"\s*,(.*?)\);\n(?=\s*m\.|\}})', text, flags=re.S)
        if found:
            strings = re.findall(r'"((?:[^"\\]|\\.)*)"(?!_a)', re.sub(r"\{.*\}", "", found[1], flags=re.S))
            return f"{name}()", "".join(strings)
    return f"{name}()", ""


def find(module, name):
    for node in tree(module).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node
    return None


def signature(name, function, method=False):
    """The call as text, without self."""
    arguments = ast.parse(ast.unparse(function)).body[0].args
    if method and not any(getattr(one, "id", "") == "staticmethod" for one in function.decorator_list):
        (arguments.posonlyargs or arguments.args).pop(0)
    for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        one.annotation = None
    return f"{name}({ast.unparse(arguments)})"


def markdown(docstring):
    """A docstring as Markdown: ``code`` as `code`, examples and indented tables as blocks."""
    lines, out, block = docstring.strip("\n").split("\n"), [], []

    def close():
        if block:
            while block and not block[-1].strip():
                block.pop()
            language = "python" if block[0].startswith(">>> ") else "text"
            shown = [re.sub(r"^(>>>|\.\.\.) ?", "", line) for line in block] if language == "python" else textwrap.dedent("\n".join(block)).split("\n")
            out.extend(["", f"```{'py' if language == 'python' else language}", *shown, "```", ""])
            block.clear()

    for line in lines:
        if line.startswith((">>>", "...")) or (line.startswith("    ") and line.strip()) or (block and not line.strip()):
            block.append(line)
        else:
            close()
            out.append(line)
    close()
    text = re.sub(r"(?<!`)``(?!`)(.+?)(?<!`)``(?!`)", r"`\1`", "\n".join(out), flags=re.S)
    text = re.sub(r"^- (\w+(?:, \w+)*): ", lambda m: "- " + ", ".join(f"`{one}`" for one in m[1].split(", ")) + ": ", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def documentation(node):
    return ast.get_docstring(node) or ""


def is_property(node):
    return any(getattr(one, "id", "") == "property" for one in node.decorator_list)


def members(node):
    """Public methods and properties of a class, setters left out."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_") and not any(isinstance(d, ast.Attribute) for d in one.decorator_list):
            yield one


def entry(prefix, module, name, level=3):
    """What the page says of a name: lines."""
    if module == "_core":
        call, text = compiled(name)
        return ["#" * level + f" {prefix}.{name}", "", f"    {call}", "", markdown(text), ""]
    node = find(module, name)
    if node is None:
        return []
    out = ["#" * level + f" {prefix}.{name}", ""]
    if isinstance(node, ast.FunctionDef):
        return [*out, *block(signature(name, node)), "", markdown(documentation(node)), ""]
    start, bases = maker(module, node), [ast.unparse(one) for one in node.bases]
    head = block(signature(name, start, True)) if start and name not in GIVEN else []
    out += [*head, "", *([f"Base: `{', '.join(bases)}`.", ""] if bases else []), markdown(documentation(node)), ""]
    for one in members(node):
        call = f"`{one.name}` (property)" if is_property(one) else f"`{signature(one.name, one, True)}`"
        out += ["#" * (level + 1) + f" {call}", "", markdown(documentation(one)), ""]
    return out


def maker(module, node):
    """The __init__ of a class or of a base in its module, or nothing."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            return one
    bases = [find(module, getattr(one, "id", "")) for one in node.bases]
    return next((found for base in bases if base and (found := maker(module, base))), None)


def block(call):
    """A signature as an indented block, broken where it is wide."""
    if len(call) <= 96:
        return [f"    {call}"]
    name, rest = call.split("(", 1)
    return ["    " + line for line in textwrap.wrap(f"{name}({rest}", 96, subsequent_indent=" " * (len(name) + 1), break_long_words=False,
                                                    break_on_hyphens=False)]


def page(which):
    title, about = PAGES[which]
    lines = [f"# Python API: {title}", "", about, "", "Made from the docstrings of `python/nudge/`.", ""]
    if which == "python_api":
        home = origins()
        for group, names in GROUPS.items():
            lines += [f"## {group}", ""]
            for name in names:
                lines += entry("nudge", home.get(name, ""), name)
        for module, names in MODULES.items():
            lines += [f"## nudge.{module}", "", markdown(documentation(tree(module))), ""]
            for name in names:
                node = find(module, name)
                lines += entry(f"nudge.{module}", module if node else origin_of(module, name), name)
    else:
        for module in EXTRA:
            lines += [f"## nudge.{module}", "", markdown(documentation(tree(module))), ""]
            for name in listed(module):
                lines += entry(f"nudge.{module}", module, name)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def origin_of(module, name):
    """The module that another one imports a name from."""
    for node in tree(module).body:
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            return node.module
    return module


def problems():
    """Public names that no page has, or that have no docstring."""
    found, home = [], origins()
    ours = [name for names in GROUPS.values() for name in names] + list(MODULES)
    for name in sorted(set(listed("__init__")) ^ set(ours)):
        found.append(f"nudge.{name} is in {'nudge.__all__' if name in listed('__init__') else 'GROUPS'} alone")
    named = [(home.get(name, name), name, f"nudge.{name}") for names in GROUPS.values() for name in names]
    named += [(module if find(module, name) else origin_of(module, name), name, f"nudge.{module}.{name}") for module, names in MODULES.items() for name in names]
    named += [(module, name, f"nudge.{module}.{name}") for module in EXTRA for name in listed(module)]
    for module, name, shown in named:
        if module == "_core":
            if not compiled(name)[1]:
                found.append(f"{shown} has no docstring (python/src)")
            continue
        node = find(module, name)
        if node is None:
            found.append(f"{shown} is not in python/nudge/{module}.py")
            continue
        if not documentation(node):
            found.append(f"{shown} has no docstring")
        if isinstance(node, ast.ClassDef):
            found += [f"{shown}.{one.name} has no docstring" for one in members(node) if not documentation(one)]
    pages = page("python_api") + page("python_api_modules")
    found += [f"{shown} is on no page" for _, _, shown in named if f"### {shown}\n" not in pages]
    return found


def on_files(files, config):
    return generated.add_to_site(files, config, problems(), {f"reference/{which}.md": page(which) for which in PAGES})


if __name__ == "__main__":
    generated.show_or_check(
        __doc__, lambda name: page("python_api" if name == "nudge" else "python_api_modules") if name in ("nudge", *EXTRA) else "", problems,
        lambda: f"{len(listed('__init__'))} names of nudge and {sum(len(listed(one)) for one in EXTRA)} of {', '.join(EXTRA)}")
