"""Files and functions stay readable: no source over 600 lines, no function over 60.

Where a longer one is the better choice, a comment says why: `lint: long file, REASON` anywhere in the file, or
`lint: long function, REASON` in the function or on the three lines before it.
"""

import ast
import re

from sources import arguments, blank, finish, read, repository_files

FILE_LIMIT = 600
FUNCTION_LIMIT = 60
FILE_MARK = re.compile(r"lint: long file, \S+")
FUNCTION_MARK = re.compile(r"lint: long function, \S+")
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def blocks(code):
    """Yields (first line, last line) of each outermost function body of C++ without comments and strings.

    A function is a block whose head has parentheses and that stands in no other function.
    """
    stack, head_start, inside = [], 0, 0
    for position, letter in enumerate(code):
        if letter == "{":
            head = code[head_start:position]
            is_function = not inside and "(" in head and not (SCOPE.search(head) and not head.rstrip().endswith(")"))
            first = head_start + len(head) - len(head.lstrip())
            stack.append((is_function, first))
            inside += is_function
        elif letter == "}" and stack:
            was_function, first = stack.pop()
            inside -= was_function
            if was_function:
                yield code.count("\n", 0, first) + 1, code.count("\n", 0, position) + 1
        if letter in "{};":
            head_start = position + 1


def cpp_functions(text):
    # A preprocessor line may hold half a block: none of them counts.
    return blocks(re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group(0).count("\n"), blank(text), flags=re.M))


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno


def check(path, text):
    lines = text.split("\n")
    problems = []
    if len(lines) - 1 > FILE_LIMIT and not FILE_MARK.search(text):
        problems.append(f"{path}:1: {len(lines) - 1} lines, over {FILE_LIMIT}")
    for first, last in python_functions(text) if path.endswith(".py") else cpp_functions(text):
        if last - first + 1 > FUNCTION_LIMIT and not FUNCTION_MARK.search("\n".join(lines[max(0, first - 4):last])):
            problems.append(f"{path}:{first}: a function of {last - first + 1} lines, over {FUNCTION_LIMIT}")
    return problems


if __name__ == "__main__":
    options = arguments(__doc__)
    # Tables (.def) are data: as long as what they list.
    paths = [f for f in repository_files(options.root) if f.endswith((".h", ".hpp", ".cpp", ".c", ".py"))]
    finish([p for path in paths for p in check(path, read(options.root, path))], f"{len(paths)} sources")
