"""Modules of which the package is missing: they say what to install, and looking around is no error."""

import subprocess
import sys

import pytest

PROGRAM = """
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {peers}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
import inspect, latens
{body}
"""

LOOK = """
names = dict(inspect.getmembers(latens))
assert "wcodec" in names and "arrow" in names and "save" in names
for name in {modules}:
    assert not hasattr(latens, name) and name not in names
    try:
        getattr(latens, name)
    except AttributeError as error:
        assert "pip install latens[" in str(error), error
    for statement in (f"import latens.{{name}}", f"from latens import {{name}}"):
        try:
            exec(statement)
        except latens.MissingError as error:
            assert isinstance(error, ImportError) and "pip install latens[" in str(error), error
        else:
            raise AssertionError(statement)
assert not hasattr(latens, "nothing")
import pydoc
assert "Lossless compression" in pydoc.render_doc(latens)
"""


@pytest.mark.parametrize(
    "peers, modules",
    [
        ({"torch"}, ["torch"]),
        ({"numcodecs", "zarr"}, ["numcodecs", "zarr"]),
        ({"torch", "transformers", "zarr", "numcodecs", "pyarrow"}, ["torch", "numcodecs", "zarr"]),
    ],
)
def test_looking_around(peers, modules):
    program = PROGRAM.format(peers=peers, body=LOOK.format(modules=modules))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_modules_that_need_a_package_when_they_are_called():
    body = """
for call in (lambda: latens.arrow.compress(3),
             lambda: latens.transformers.from_pretrained(None, sys.argv[0] or "."),
             lambda: list(latens.vllm._weights(["x.wcodec"], {}, True)),
             lambda: latens.vllm.rows("x.wcodec", "w", 0, 1)):
    try:
        call()
    except latens.MissingError as error:
        assert "pip install latens[" in str(error), error
    else:
        raise AssertionError
"""
    program = PROGRAM.format(peers={"torch", "transformers", "pyarrow"}, body=body)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
