"""Python SDK v1 (`mcp` 1.x) as a client: versions with a handshake, over any transport.

  python py_sdk_v1.py WHERE ERA TOPIC:PREFIX,... FOLDER
"""

import os
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import httpx
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl

import py_cases as cases

LOGS = []
CHANGES = cases.Changes()


async def sample(context, params):
    content = types.TextContent(type="text", text=cases.SAMPLE)
    return types.CreateMessageResult(role="assistant", model="none", content=content)


async def elicit(context, params):
    return types.ElicitResult(action="accept", content=cases.fill_in(params.requestedSchema))


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri=cases.ROOT, name="files")])


async def log(params):
    LOGS.append(params.data)


async def heard(message):
    told = message.root if isinstance(message, types.ServerNotification) else None
    if isinstance(told, types.ToolListChangedNotification):
        CHANGES.push("tools")
    if isinstance(told, types.ResourceUpdatedNotification):
        CHANGES.push(told.params.uri)


class Peer:
    def __init__(self, session, wire):
        self.session, self.wire, self.logs, self.changes = session, wire, LOGS, CHANGES

    @asynccontextmanager
    async def watch(self, tools=False, uri=None):
        if uri:
            await self.session.subscribe_resource(AnyUrl(uri))
        yield
        if uri:
            await self.session.unsubscribe_resource(AnyUrl(uri))

    async def ping(self):
        await self.session.send_ping()

    async def want_logs(self):
        await self.session.set_logging_level("debug")

    async def list_tools(self):
        return cases.plain(await self.session.list_tools())["tools"]

    async def list_prompts(self):
        return cases.plain(await self.session.list_prompts())["prompts"]

    async def list_resources(self):
        return cases.plain(await self.session.list_resources())["resources"]

    async def list_templates(self):
        return cases.plain(await self.session.list_resource_templates())["resourceTemplates"]

    async def call(self, name, arguments, on_progress=None):
        return cases.plain(await self.session.call_tool(name, arguments, progress_callback=on_progress))

    async def read(self, uri):
        return cases.plain(await self.session.read_resource(AnyUrl(uri)))

    async def prompt(self, name, arguments):
        return cases.plain(await self.session.get_prompt(name, arguments))

    async def complete(self, ref, argument):
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return cases.plain(await self.session.complete(kind(**ref), argument))

    async def give_up(self, name, arguments, meanwhile):
        self.wire.call_sent = anyio.Event()
        number = self.session._request_id  # the id that the next request gets
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments)
            await self.wire.call_sent.wait()
            await meanwhile()
            # This SDK has no call for it: the notification is up to its user.
            params = types.CancelledNotificationParams(requestId=number, reason="given up")
            cancelled = types.CancelledNotification(method="notifications/cancelled", params=params)
            await self.session.send_notification(types.ClientNotification(cancelled))
            tasks.cancel_scope.cancel()


async def streams(stack, wire):
    """What the session reads from and writes to."""
    if cases.COMMAND:
        program, *args = cases.COMMAND
        server = StdioServerParameters(command=program, args=args, env=dict(os.environ))
        read, write = await stack.enter_async_context(stdio_client(server))
        return read, wire.on_pipe(write)
    hooks = {"request": [wire.on_request]}

    def client(headers=None, timeout=None, auth=None):
        return httpx.AsyncClient(headers={**cases.HEADERS, **(headers or {})}, timeout=timeout or httpx.Timeout(30, read=300), event_hooks=hooks)

    if cases.SSE:
        return await stack.enter_async_context(sse_client(cases.URL, httpx_client_factory=client))
    http = await stack.enter_async_context(client())
    return (await stack.enter_async_context(streamable_http_client(cases.URL, http_client=http)))[:2]


async def main():
    wire = cases.Wire()
    async with AsyncExitStack() as stack:
        read, write = await streams(stack, wire)
        session = await stack.enter_async_context(
            ClientSession(
                read,
                write,
                sampling_callback=sample,
                elicitation_callback=elicit,
                list_roots_callback=roots,
                logging_callback=log,
                message_handler=heard,
            )
        )
        if await cases.check("initialize", session.initialize):
            await cases.run_all(Peer(session, wire))


anyio.run(main)
cases.finish()
