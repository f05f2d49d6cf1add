"""Python SDK v2 (`mcp` 2.x) as a client of either era, over any transport.

  python py_sdk_v2.py WHERE legacy|fallback|auto|modern TOPIC:PREFIX,... FOLDER

`fallback`: it may find out by itself, and finds a server with a handshake.
"""

import os
import warnings
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import py_cases as cases

# The newest version deprecates what the others still have, which is what is tested here.
warnings.simplefilter("ignore")
NEWEST = "2026-07-28"
STATELESS = cases.ERA in ("auto", "modern")
LOGS = []
CHANGES = cases.Changes()


async def sample(context, params):
    content = types.TextContent(type="text", text=cases.SAMPLE)
    return types.CreateMessageResult(role="assistant", model="none", content=content)


async def elicit(context, params):
    return types.ElicitResult(action="accept", content=cases.fill_in(params.requested_schema))


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri=cases.ROOT, name="files")])


async def log(params):
    LOGS.append(params.data)


async def heard(message):
    if isinstance(message, types.ToolListChangedNotification):
        CHANGES.push("tools")
    if isinstance(message, types.ResourceUpdatedNotification):
        CHANGES.push(message.params.uri)


class Peer:
    def __init__(self, client, wire):
        self.client, self.wire, self.logs, self.changes = client, wire, LOGS, CHANGES
        self.ping = None if STATELESS else client.send_ping

    @asynccontextmanager
    async def watch(self, tools=False, uri=None):
        uris = [uri] if uri else []
        if STATELESS:
            async with self.client.listen(tools_list_changed=tools, resource_subscriptions=uris):
                yield
            return
        for followed in uris:
            await self.client.subscribe_resource(followed)
        yield
        for followed in uris:
            await self.client.unsubscribe_resource(followed)

    async def want_logs(self):
        if not STATELESS:
            await self.client.set_logging_level("debug")

    async def list_tools(self):
        return cases.plain(await self.client.list_tools())["tools"]

    async def list_prompts(self):
        return cases.plain(await self.client.list_prompts())["prompts"]

    async def list_resources(self):
        return cases.plain(await self.client.list_resources())["resources"]

    async def list_templates(self):
        return cases.plain(await self.client.list_resource_templates())["resourceTemplates"]

    async def call(self, name, arguments, on_progress=None):
        return cases.plain(await self.client.call_tool(name, arguments, progress_callback=on_progress))

    async def read(self, uri):
        return cases.plain(await self.client.read_resource(uri, cache_mode="bypass"))

    async def prompt(self, name, arguments):
        return cases.plain(await self.client.get_prompt(name, arguments))

    async def complete(self, ref, argument):
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return cases.plain(await self.client.complete(kind(**ref), argument))

    async def give_up(self, name, arguments, meanwhile):
        self.wire.call_sent = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments)
            await self.wire.call_sent.wait()
            await meanwhile()
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def reached(wire):
    """What the client reads from and writes to."""
    if cases.COMMAND:
        program, *args = cases.COMMAND
        server = StdioServerParameters(command=program, args=args, env=dict(os.environ))
        async with stdio_client(server) as (read, write):
            yield read, wire.on_pipe(write)
        return
    hooks = {"request": [wire.on_request]}

    def client(headers=None, timeout=None, auth=None):
        return httpx2.AsyncClient(headers={**cases.HEADERS, **(headers or {})}, timeout=timeout or httpx2.Timeout(30, read=300), event_hooks=hooks)

    if cases.SSE:
        async with sse_client(cases.URL, httpx_client_factory=client) as streams:
            yield streams
        return
    async with client() as http, streamable_http_client(cases.URL, http_client=http) as streams:
        yield streams


async def main():
    wire = cases.Wire()
    mode = {"modern": NEWEST, "fallback": "auto"}.get(cases.ERA, cases.ERA)
    async with AsyncExitStack() as stack:
        client = Client(
            reached(wire),
            mode=mode,
            read_timeout_seconds=cases.SECONDS,
            log_level="debug",
            sampling_callback=sample,
            elicitation_callback=elicit,
            list_roots_callback=roots,
            logging_callback=log,
            message_handler=heard,
        )

        async def connect():
            await stack.enter_async_context(client)
            stateless = client.protocol_version == NEWEST
            cases.need(stateless == STATELESS, f"version {client.protocol_version}")

        # Not under a deadline of its own: what it opens has to be closed from the same task.
        try:
            await connect()
            print("ok", "discover" if STATELESS else "initialize", flush=True)
        except Exception as error:
            print(f"not ok connect: {type(error).__name__} {error}", flush=True)
            cases.failed += 1
            return
        await cases.run_all(Peer(client, wire))


anyio.run(main)
cases.finish()
