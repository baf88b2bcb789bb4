"""Random markers and the environments to evaluate them in, for packaging_differential.py."""

from packaging.utils import canonicalize_name

from packaging_known import marker_difference

VERSION_VARIABLES = ["python_version", "python_full_version", "implementation_version", "platform_release"]
TEXT_VARIABLES = ["os_name", "sys_platform", "platform_machine", "platform_python_implementation",
                  "platform_system", "platform_version", "implementation_name", "os.name", "sys.platform",
                  "platform.machine", "platform.version", "platform.python_implementation",
                  "python_implementation"]
TEXT_VALUES = ["posix", "linux", "win32", "x86_64", "CPython", "Linux", "cpython", "", "posix linux",
               "a\"b", "Windows"]
ENVIRONMENTS = [
    {"python_version": "3.11", "python_full_version": "3.11.2", "os_name": "posix",
     "sys_platform": "linux", "platform_machine": "x86_64", "platform_python_implementation": "CPython",
     "platform_release": "6.18.5", "platform_system": "Linux", "platform_version": "#1 SMP",
     "implementation_name": "cpython", "implementation_version": "3.11.2", "extra": ""},
    {"python_version": "3.14", "python_full_version": "3.14.0a2+", "os_name": "nt",
     "sys_platform": "win32", "platform_machine": "AMD64", "platform_python_implementation": "PyPy",
     "platform_release": "10-custom", "platform_system": "Windows", "platform_version": "10.0.19045",
     "implementation_name": "pypy", "implementation_version": "7.3.13", "extra": "Foo_Bar"},
]


class MarkerTexts:
    """Random markers; `kinds` collects the KNOWN kinds that the current one is a case of."""

    def __init__(self, texts, rng, environment):
        self.texts = texts
        self.rng = rng
        self.environment = environment
        self.kinds = set()

    def quoted(self, text):
        mark = "'" if '"' in text else '"' if "'" in text else self.rng.choice("'\"")
        return mark + text + mark

    def joined(self, variable, op, literal):
        space = self.rng.choice([" ", " ", "  ", "\t", ""])
        quoted = self.quoted(literal)
        gap = " " if op[0].isalpha() else space
        if '"' in literal:
            self.kinds.add("inner-quote")
        if variable == "extra" and canonicalize_name(literal) != literal:
            self.kinds.add("extras")
        if self.rng.randrange(4):
            self.compared(variable, op, literal, False)
            return f"{variable}{gap}{op}{space}{quoted}"
        self.compared(variable, op, literal, True)
        return f"{quoted}{space}{op}{gap}{variable}"

    def compared(self, variable, op, literal, literal_first):
        name = "platform_" + variable if variable == "python_implementation" else variable.replace(".", "_")
        value = self.environment[name]
        if value.endswith("+"):
            self.kinds.add("not-a-version")
        left, right = (literal, value) if literal_first else (value, literal)
        kind = marker_difference(variable in VERSION_VARIABLES, op, left, right)
        self.kinds |= {kind} - {None}

    def version_clause(self):
        rng = self.rng
        variable = rng.choice(VERSION_VARIABLES)
        literal = rng.choice(["3.11", "3.9", "3.14", "3.11.2", "3.*", "6.18", "7", "2.7, 3.11",
                              self.texts.version()])
        op = rng.choice(["==", "!=", "<=", ">=", "<", ">", "~=", "===", "in", "not in"])
        return self.joined(variable, op, literal)

    def text_clause(self):
        rng = self.rng
        variable = rng.choice(TEXT_VARIABLES)
        op = rng.choice(["==", "!=", "in", "not in", "==", "!=", "<=", ">=", "<", ">", "~=", "==="])
        literal = rng.choice(TEXT_VALUES) if rng.randrange(5) else self.texts.version()
        return self.joined(variable, op, literal)

    def extra_clause(self):
        literal = self.rng.choice(["foo-bar", "Foo.Bar", "foo", "", "x_y"])
        return self.joined("extra", self.rng.choice(["==", "!=", "==", "in"]), literal)

    def clause(self):
        kind = self.rng.randrange(5)
        if kind < 2:
            return self.version_clause()
        return self.extra_clause() if kind == 4 else self.text_clause()

    def tree(self, depth=0):
        rng = self.rng
        text = ""
        for i in range(rng.choice([1, 1, 2, 2, 3])):
            text += (rng.choice([" and ", " or ", "  and\t"]) if i else "")
            if depth < 3 and rng.randrange(3) == 0:
                pairs = rng.choice([1, 1, 2])
                inner = self.tree(depth + 1)
                text += "(" * pairs + inner + ")" * pairs
                if pairs == 2 or inner.startswith("("):
                    self.kinds.add("nested-parentheses")
            else:
                text += self.clause()
        return text
