"""The cases that every Python client runs, whatever its SDK: the SDK's script hands in a peer.

A peer has these coroutines, all of which answer plain JSON values as they came:
  list_tools(), list_prompts(), list_resources(), list_templates()
  call(name, arguments, on_progress=None), read(uri), prompt(name, arguments), complete(ref, argument)
  give_up(name, arguments, meanwhile): starts a call, awaits meanwhile(), cancels the call
  watch(tools=False, uri=None): an async context in which `changes` (a `Changes`) is told of `tools` and of URIs
  want_logs(); and `logs`, the texts of the log messages so far
  ping(), where the era has it

  python SCRIPT WHERE ERA TOPIC:PREFIX,... FOLDER      WHERE: a URL (sse+URL, or .../sse, for HTTP+SSE), or a command as a
                                                       JSON array. PEER_HEADERS: what HTTP requests carry, a JSON object
"""

import json
import os
import pathlib
import re
import sys

import anyio

SECONDS = 20
HANGS = 3  # so many cases may hang; then the rest would only hang as well
SAMPLE = "Said by the client's model"
# The methods of a peer, by the names that those of JavaScript have.
METHODS = {"ping": "ping", "listPrompts": "list_prompts", "listResources": "list_resources", "wantLogs": "want_logs"}
WHERE, ERA, TOPICS, FILES = sys.argv[1:5]
COMMAND = json.loads(WHERE) if WHERE.startswith("[") else None
SSE = WHERE.startswith("sse+") or WHERE.endswith("/sse")
URL = WHERE.removeprefix("sse+")
HEADERS = json.loads(os.environ.get("PEER_HEADERS", "{}"))
ROOT = pathlib.Path(FILES).absolute().as_uri()
failed = 0
hanging = 0


class Wire:
    """Notices when a tool call goes out."""

    def __init__(self):
        self.call_sent = anyio.Event()

    async def on_request(self, request):
        """For the hooks of an HTTP client."""
        if request.method == "POST" and b'"tools/call"' in request.content:
            self.call_sent.set()

    def on_pipe(self, write):
        """For the stream that an SDK's pipe transport takes messages from."""
        send = write.send

        async def watched(message):
            await send(message)
            if "tools/call" in str(message):
                self.call_sent.set()

        write.send = watched
        return write


class Changes:
    """What the server has told of: each word once for each time that it was told."""

    def __init__(self):
        self.told, self.wake = [], anyio.Event()

    def push(self, what):
        self.told.append(str(what))
        self.wake.set()
        self.wake = anyio.Event()

    async def next(self, what):
        while what not in self.told:
            await self.wake.wait()
        self.told.remove(what)


async def check(name, run):
    """Runs one case under a deadline and prints how it went."""
    global failed, hanging
    try:
        with anyio.fail_after(SECONDS):
            await run()
        print(f"ok {name}", flush=True)
        return True
    except Exception as error:
        failed += 1
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        why = f"{type(error).__name__} {error}".replace("\n", " ")[:400]
        print(f"not ok {name}: {why}", flush=True)
        hanging += isinstance(error, TimeoutError)
        if hanging >= HANGS:
            # Straight out: closing what hangs might hang, too.
            os._exit(1)
        return False


def resolved(topics, name):
    """A topic with what it takes over from another one, without what its like lacks."""
    own = topics[name]
    asked = {**(resolved(topics, own["like"]) if "like" in own else {}), **own}
    without = own.get("without", [])

    def stays(item):
        return not isinstance(item, dict) or (item.get("case") or item.get("name") or item.get("uri")) not in without

    kept = {key: value for key, value in asked.items() if key not in without}
    return {key: [item for item in value if stays(item)] if isinstance(value, list) else value for key, value in kept.items()}


def questions():
    """What this visit asks of each server, with names as the gateway shows them."""
    text = pathlib.Path(__file__).with_name("questions.json").read_text().replace("$FILES", FILES)
    pairs = [pair.split(":") for pair in TOPICS.split(",")]
    for index, (topic, prefix) in enumerate(pairs):
        asked = resolved(json.loads(text), topic)
        asked["of"] = f"{prefix} " if len(pairs) > 1 else ""
        asked["tools"] = [prefix + name for name in asked["tools"]]
        for key in ("calls", "asks", "prompts"):
            asked[key] = [{**item, "name": prefix + item["name"]} for item in asked.get(key, [])]
        for key in ("progress", "logging", "cancel"):
            if key in asked:
                asked[key]["name"] = prefix + asked[key]["name"]
        for item in asked.get("completions", []):
            if "prompt" in item:
                item["prompt"] = prefix + item["prompt"]
        for key in ("change", "update"):
            if key in asked:
                asked[key] = {name: value if name == "uri" else prefix + value for name, value in asked[key].items()}
        asked["reads"] = [item for item in asked.get("reads", []) if len(pairs) == 1 or not item.get("unlisted")]
        if index > 0:
            # A URI that several servers have is the first one's.
            asked.pop("update", None)
            asked.get("cancel", {}).pop("counted", None)
        yield asked


def fill_in(schema):
    """The answer of a user called Ada to a form."""
    formats = {"email": "ada@example.com", "uri": "https://example.com/", "date": "1815-12-10"}

    def choice(field):
        options = field.get("oneOf") or field.get("anyOf") or [{}]
        return (field.get("enum") or [options[0].get("const")])[0]

    def value(name, field):
        if "default" in field:
            return field["default"]
        kind = field.get("type")
        if kind == "array":
            return [choice(field["items"])]
        if kind == "boolean":
            return True
        if kind in ("integer", "number"):
            return field.get("minimum", 1)
        return choice(field) or formats.get(field.get("format")) or (formats["email"] if name == "email" else "Ada")

    return {name: value(name, field) for name, field in schema.get("properties", {}).items()}


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


def text_of(blocks):
    return "\n".join(block.get("text", "") for block in blocks)


def need(good, why):
    if not good:
        raise AssertionError(why)


async def must_fail(run, says="", by=None):
    """It fails, by an error or by a result, and says so; where it matters by which of the two."""
    try:
        result = await run()
    except Exception as error:
        need(by != "result", f"an error: {error}")
        need(says in str(error), f"said {error}")
        return
    need(by != "error" and result.get("isError"), f"a result: {result}")
    need(says in text_of(result["content"]), f"said {result['content']}")


async def one_call(peer, item):
    if item.get("fails"):
        return await must_fail(lambda: peer.call(item["name"], item["arguments"]), item.get("says", ""), item.get("by"))
    result = await peer.call(item["name"], item["arguments"])
    need(not result.get("isError"), f"it failed: {result}")
    if "text" in item:
        need(item["text"] in text_of(result["content"]), f"said {result['content']}")
    if "type" in item:
        need(any(block["type"] == item["type"] for block in result["content"]), f"no {item['type']}")
    if "structured" in item:
        need(result.get("structuredContent") == item["structured"], f"structured: {result}")


async def progress(peer, item):
    seen = []

    async def on_progress(progress, total, message):
        seen.append(progress)

    result = await peer.call(item["name"], item["arguments"], on_progress)
    need(item["text"] in text_of(result["content"]), f"said {result}")
    need(len(seen) == item["reports"] and seen == sorted(seen), f"reports: {seen}")


async def logging(peer, item):
    await peer.want_logs()
    before = len(peer.logs)
    await peer.call(item["name"], item["arguments"])
    need(peer.logs[before:] == item["messages"], f"logs: {peer.logs[before:]}")


async def cancel(peer, item, elsewhere):
    async def count(uri):
        return int((await peer.read(uri))["contents"][0]["text"])

    async def more(uri, before):
        # Reading is the only way to see what the upstream was told; the case's deadline bounds it.
        while await count(uri) == before:
            await anyio.lowlevel.checkpoint()

    if "counted" not in item:
        meanwhile = lambda: peer.prompt(elsewhere["name"], None)
        return await peer.give_up(item["name"], item["arguments"], meanwhile)
    begun, ended = await count(item["begun"]), await count(item["counted"])
    await peer.give_up(item["name"], item["arguments"], lambda: more(item["begun"], begun))
    await more(item["counted"], ended)


def revision_in(text):
    found = re.search(r"revision (\d+)$", text, re.IGNORECASE)
    need(found, f"no revision in {text}")
    return found[1]


async def change(peer, item):
    """Changes the list of tools, and sees the change once it is told of it."""
    async with peer.watch(tools=True):
        now = revision_in(text_of((await peer.call(item["trigger"], {}))["content"]))
        listed = None
        while listed != now:
            await peer.changes.next("tools")
            tools = {tool["name"]: tool for tool in await peer.list_tools()}
            listed = revision_in(tools[item["changing"]]["description"])


async def update(peer, item):
    """Changes a resource, and sees the change once it is told of it."""
    async with peer.watch(uri=item["uri"]):
        now = revision_in(text_of((await peer.call(item["trigger"], {}))["content"]))
        read = None
        while read != now:
            await peer.changes.next(item["uri"])
            read = revision_in((await peer.read(item["uri"]))["contents"][0]["text"])


async def lists(peer, asked):
    names = [tool["name"] for tool in await peer.list_tools()]
    need(set(asked["tools"]) <= set(names), f"tools: {names}")
    need(len(set(names)) == len(names), "a name is listed twice")
    if asked["reads"]:
        need(await peer.list_resources(), "no resources")
    if "templates" in asked:
        templates = [template["uriTemplate"] for template in await peer.list_templates()]
        need(set(asked["templates"]) <= set(templates), f"templates: {templates}")
    if asked["prompts"]:
        prompts = [prompt["name"] for prompt in await peer.list_prompts()]
        need({item["name"] for item in asked["prompts"]} <= set(prompts), f"prompts: {prompts}")


async def one_read(peer, item):
    text = (await peer.read(item["uri"]))["contents"][0]["text"]
    need(item["text"] in text, f"read {text}")


async def one_prompt(peer, item):
    messages = (await peer.prompt(item["name"], item.get("arguments")))["messages"]
    need(item["text"] in text_of(message["content"] for message in messages), f"messages: {messages}")


async def completion(peer, item):
    if "prompt" in item:
        ref = {"type": "ref/prompt", "name": item["prompt"]}
    else:
        ref = {"type": "ref/resource", "uri": item["template"]}
    result = await peer.complete(ref, {"name": item["argument"], "value": item["value"]})
    need(result["completion"]["values"] == item["values"], f"completed {result}")


async def one_of(peer, asked):
    async def one(name, run):
        await check(asked["of"] + name, run)

    for item in asked.get("refused", []):
        # What a client has no word for, or knows better than to ask, it cannot be refused.
        method = getattr(peer, METHODS[item["method"]], None)
        if method:
            await one(f"{item['method']} is refused: {item['why']}", lambda: must_fail(method, item["says"], "error"))
    if getattr(peer, "ping", None) and all(item["method"] != "ping" for item in asked.get("refused", [])):
        await one("ping", peer.ping)
    await one("lists", lambda: lists(peer, asked))
    for item in asked["calls"] + asked["asks"]:
        await one(item["case"], lambda item=item: one_call(peer, item))
    if "progress" in asked:
        await one("progress", lambda: progress(peer, asked["progress"]))
    if "logging" in asked:
        await one("logging", lambda: logging(peer, asked["logging"]))
    for item in asked["reads"]:
        await one(f"read {item['uri']}", lambda item=item: one_read(peer, item))
    if "missing" in asked:
        await one("read what is missing", lambda: must_fail(lambda: peer.read(asked["missing"])))
    for item in asked["prompts"]:
        await one(f"prompt {item['name']}", lambda item=item: one_prompt(peer, item))
    for item in asked.get("completions", []):
        await one(f"completion of {item['argument']}", lambda item=item: completion(peer, item))
    if "cancel" in asked:
        await one("cancellation", lambda: cancel(peer, asked["cancel"], asked["prompts"][0]))
    if "change" in asked:
        await one("a changed list", lambda: change(peer, asked["change"]))
    if "update" in asked:
        await one("a changed resource", lambda: update(peer, asked["update"]))


async def run_all(peer):
    """Runs everything that this visit asks for, server by server."""
    for asked in questions():
        await one_of(peer, asked)


def finish():
    sys.exit(1 if failed else 0)
