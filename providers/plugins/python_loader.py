"""Asks one provider plugin, of both generations of the API, and says the answer on descriptor 3.

python -I -B -c THIS QUERY NAMESPACE PLUGIN_API [FOLDER...], with QUERY `supported` or `all`, and
folders whose modules come before those of the environment. Since 0.2 the
plugin-api leads to an object (a module, a class, anything) whose functions are called as they are;
the 0.0.x plugins are classes that are instantiated, name their namespace, take an argument and may
lack get_all_configs.
"""

import importlib
import inspect
import json
import os
import sys

ANSWER = 3
MOST_FEATURES = 512
MOST_VALUES = 4096


class Trouble(Exception):
    def __init__(self, fault, message):
        super().__init__(message)
        self.fault = fault


def find_object(plugin_api):
    module_name, _, path = plugin_api.partition(":")
    module_name, path = module_name.strip(), path.strip()
    try:
        found = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # A module that is missing inside of the plugin is the plugin's own trouble.
        if error.name and (module_name + ".").startswith(error.name + "."):
            raise Trouble("no_object", "there is no module %s" % module_name) from error
        raise
    for name in path.split(".") if path else []:
        try:
            found = getattr(found, name)
        except AttributeError as error:
            raise Trouble("no_object", "%s leads nowhere: no %s" % (plugin_api, name)) from error
    return found


def is_old(found):
    """Of 0.0.x: a class with a namespace, or one whose functions want an instance; or such an instance."""
    if not inspect.isclass(found):
        # An instance of such a class. A module may call anything `namespace`.
        return not inspect.ismodule(found) and isinstance(getattr(found, "namespace", None), str)
    function = inspect.getattr_static(found, "get_supported_configs", None)
    return hasattr(found, "namespace") or inspect.isfunction(function)


def call(function):
    """Without an argument where that is possible, else with the one of 0.0.x: nothing is known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    wanted = [p for p in parameters if p.kind in positional and p.default is p.empty]
    return function(*[None] * min(len(wanted), 1))


def text(value, what):
    if not isinstance(value, str):
        raise Trouble("malformed", "%s is not text but %s" % (what, type(value).__name__))
    return str(value)


def feature(config, old):
    for key in ("name", "values") if old else ("name", "multi_value", "values"):
        if not hasattr(config, key):
            raise Trouble("malformed", "a feature config has no %s" % key)
    name = text(config.name, "the name of a feature")
    multi_value = getattr(config, "multi_value", False)
    if not isinstance(multi_value, bool):
        raise Trouble("malformed", "multi_value of %.40s is neither True nor False" % name)
    if not isinstance(config.values, (list, tuple)) or len(config.values) > MOST_VALUES:
        raise Trouble("malformed", "the values of %.40s are no list, or too long" % name)
    values = [text(value, "a value of %.40s" % name) for value in config.values]
    return {"name": name, "multi_value": multi_value, "values": values}


def ask(query, ns, plugin_api):
    plugin = find_object(plugin_api)
    old = is_old(plugin)
    if inspect.isclass(plugin) and (old or not hasattr(plugin, "get_supported_configs")):
        plugin = plugin()
    name = "get_supported_configs" if query == "supported" else "get_all_configs"
    function = getattr(plugin, name, None)
    if not callable(function):
        raise Trouble("no_object", "%s has no %s" % (plugin_api, name))
    configs = call(function)
    if not isinstance(configs, (list, tuple)) or len(configs) > MOST_FEATURES:
        raise Trouble("malformed", "%s gives no list, or one too long" % name)
    if old:
        ns = text(getattr(plugin, "namespace", None), "the namespace of the plugin")
    return {"namespace": ns, "features": [feature(config, old) for config in configs]}


def say(answer):
    data = json.dumps(answer).encode("ascii")
    while data:
        data = data[os.write(ANSWER, data):]


def main():
    query, ns, plugin_api = sys.argv[1:4]
    sys.path[:0] = sys.argv[4:]
    try:
        answer = ask(query, ns, plugin_api)
    except Trouble as error:
        answer = {"error": {"fault": error.fault, "message": str(error)}}
    except SystemExit as error:
        answer = {"error": {"fault": "raised", "message": "it called sys.exit(%.60r)" % (error.code,)}}
    except BaseException as error:
        try:
            import traceback
            traceback.print_exc()
        except BaseException:
            pass
        kind = type(error).__name__
        try:
            message = "%s: %.300s" % (kind, error)
        except BaseException:
            message = kind
        answer = {"error": {"fault": "raised", "message": message}}
    say(answer)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    # Threads, atexit functions and finalizers of the plugin have no part in this.
    os._exit(0)


main()
