"""fastmcp 4 as a client of either era: the newest version first, the handshake where the server has no other.

  python py_fastmcp.py URL legacy|fallback|auto|modern TOPIC:PREFIX,... FOLDER

`fallback`: it may find out by itself, and finds a server with a handshake.
"""

import warnings
from contextlib import asynccontextmanager

import anyio
import httpx2
import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StreamableHttpTransport
from mcp.client.subscriptions import listen

import py_cases as cases

# The newest version deprecates what the others still have, which is what is tested here.
warnings.simplefilter("ignore")
NEWEST = "2026-07-28"
STATELESS = cases.ERA in ("auto", "modern")
LOGS = []
CHANGES = cases.Changes()


async def sample(messages, params, context):
    return cases.SAMPLE


async def elicit(message, response_type, params, context):
    return cases.fill_in(params.requested_schema)


async def log(message):
    LOGS.append(message.data)


async def heard(message):
    if isinstance(message, types.ToolListChangedNotification):
        CHANGES.push("tools")
    if isinstance(message, types.ResourceUpdatedNotification):
        CHANGES.push(message.params.uri)


class Peer:
    def __init__(self, client, wire):
        self.client, self.wire, self.logs, self.changes = client, wire, LOGS, CHANGES
        self.ping = None if STATELESS else client.ping

    @asynccontextmanager
    async def watch(self, tools=False, uri=None):
        # It has no words of its own for this; the SDK below it has.
        uris = [uri] if uri else []
        if STATELESS:
            async with listen(self.client.session, tools_list_changed=tools, resource_subscriptions=uris):
                yield
            return
        for followed in uris:
            await self.client.session.subscribe_resource(followed)
        yield
        for followed in uris:
            await self.client.session.unsubscribe_resource(followed)

    async def want_logs(self):
        if not STATELESS:
            await self.client.set_logging_level("debug")

    async def list_tools(self):
        return [cases.plain(tool) for tool in await self.client.list_tools()]

    async def list_prompts(self):
        return [cases.plain(prompt) for prompt in await self.client.list_prompts()]

    async def list_resources(self):
        return [cases.plain(resource) for resource in await self.client.list_resources()]

    async def list_templates(self):
        return [cases.plain(template) for template in await self.client.list_resource_templates()]

    async def call(self, name, arguments, on_progress=None):
        return cases.plain(await self.client.call_tool_mcp(name, arguments, progress_handler=on_progress))

    async def read(self, uri):
        return cases.plain(await self.client.read_resource_mcp(uri))

    async def prompt(self, name, arguments):
        return cases.plain(await self.client.get_prompt_mcp(name, arguments))

    async def complete(self, ref, argument):
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return cases.plain(await self.client.complete_mcp(kind(**ref), argument))

    async def give_up(self, name, arguments, meanwhile):
        self.wire.call_sent = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments)
            await self.wire.call_sent.wait()
            await meanwhile()
            tasks.cancel_scope.cancel()


def transport(wire):
    def client(**settings):
        return httpx2.AsyncClient(**settings, event_hooks={"request": [wire.on_request]})

    kind = SSETransport if cases.SSE else StreamableHttpTransport
    return kind(cases.URL, headers=cases.HEADERS, httpx_client_factory=client)


async def main():
    wire = cases.Wire()
    client = Client(
        transport(wire),
        mode={"modern": NEWEST, "fallback": "auto"}.get(cases.ERA, cases.ERA),
        timeout=cases.SECONDS,
        roots=[types.Root(uri=cases.ROOT, name="files")],
        sampling_handler=sample,
        elicitation_handler=elicit,
        log_handler=log,
        message_handler=heard,
    )

    async def connect():
        stateless = client.protocol_version == NEWEST
        cases.need(stateless == STATELESS, f"version {client.protocol_version}")

    async with client:
        if await cases.check("discover" if STATELESS else "initialize", connect):
            await cases.run_all(Peer(client, wire))


anyio.run(main)
cases.finish()
