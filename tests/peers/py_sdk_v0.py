"""The first Python SDK (`mcp` 1.0.0) as a client: version 2024-11-05, or the integer 1, over a pipe or HTTP+SSE.

  python py_sdk_v0.py WHERE 2024-11-05|1 TOPIC:PREFIX,... FOLDER

It answers no question by itself and ends when it hears a notification that its version does not know, so whatever goes
well here shows that it was sent none.
"""

import os
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client, types
from mcp.client.sse import sse_client
from pydantic import AnyUrl

import py_cases as cases

VERSION = 1 if cases.ERA == "1" else cases.ERA
TOKEN = "reports"


class Session(ClientSession):
    """The SDK's session with a user's answers, and with what it hears kept apart by kind."""

    def __init__(self, read, write):
        super().__init__(read, write)
        self.logs, self.reports, self.changes = [], [], cases.Changes()

    async def _received_request(self, responder):
        asked = responder.request.root
        if isinstance(asked, types.CreateMessageRequest):
            said = types.TextContent(type="text", text=cases.SAMPLE)
            answer = types.CreateMessageResult(role="assistant", model="none", content=said)
        elif isinstance(asked, types.ListRootsRequest):
            answer = types.ListRootsResult(roots=[types.Root(uri=cases.ROOT, name="files")])
        else:
            answer = types.EmptyResult()
        await responder.respond(types.ClientResult(answer))

    async def listen(self):
        async for message in self.incoming_messages:
            told = message.root if isinstance(message, types.ServerNotification) else message
            if isinstance(told, types.ProgressNotification):
                cases.need(told.params.progressToken == TOKEN, f"progress of {told.params.progressToken}")
                self.reports.append(told.params.progress)
            elif isinstance(told, types.LoggingMessageNotification):
                self.logs.append(told.params.data)
            elif isinstance(told, types.ToolListChangedNotification):
                self.changes.push("tools")
            elif isinstance(told, types.ResourceUpdatedNotification):
                self.changes.push(told.params.uri)
            elif isinstance(told, Exception):
                raise told

    async def hello(self):
        """Its own handshake declares neither sampling nor the integer version."""
        capabilities = types.ClientCapabilities(sampling=types.SamplingCapability())
        if VERSION != 1:
            capabilities.roots = types.RootsCapability(listChanged=True)
        client = types.Implementation(name="py-sdk-v0", version="1.0.0")
        params = types.InitializeRequestParams(protocolVersion=VERSION, capabilities=capabilities, clientInfo=client)
        request = types.InitializeRequest(method="initialize", params=params)
        result = await self.send_request(types.ClientRequest(request), types.InitializeResult)
        same = result.protocolVersion == VERSION and type(result.protocolVersion) is type(VERSION)
        cases.need(same, f"version {result.protocolVersion!r}")
        done = types.InitializedNotification(method="notifications/initialized")
        await self.send_notification(types.ClientNotification(done))


class Peer:
    def __init__(self, session):
        self.session, self.logs, self.changes = session, session.logs, session.changes

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
        request = types.ListResourceTemplatesRequest(method="resources/templates/list")
        listed = await self.session.send_request(types.ClientRequest(request), types.ListResourceTemplatesResult)
        return cases.plain(listed)["resourceTemplates"]

    async def call(self, name, arguments, on_progress=None):
        meta = {"_meta": {"progressToken": TOKEN}} if on_progress else {}
        params = types.CallToolRequestParams(name=name, arguments=arguments, **meta)
        request = types.CallToolRequest(method="tools/call", params=params)
        self.session.reports.clear()
        result = await self.session.send_request(types.ClientRequest(request), types.CallToolResult)
        for report in self.session.reports if on_progress else []:
            await on_progress(report, None, None)
        return cases.plain(result)

    async def read(self, uri):
        return cases.plain(await self.session.read_resource(AnyUrl(uri)))

    async def prompt(self, name, arguments):
        return cases.plain(await self.session.get_prompt(name, arguments))

    async def complete(self, ref, argument):
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceReference
        return cases.plain(await self.session.complete(kind(**ref), argument))


async def streams(stack):
    if cases.COMMAND:
        program, *args = cases.COMMAND
        server = StdioServerParameters(command=program, args=args, env=dict(os.environ))
        return await stack.enter_async_context(stdio_client(server))
    return await stack.enter_async_context(sse_client(cases.URL, headers=cases.HEADERS))


async def main():
    async with AsyncExitStack() as stack:
        read, write = await streams(stack)
        session = await stack.enter_async_context(Session(read, write))
        tasks = await stack.enter_async_context(anyio.create_task_group())
        tasks.start_soon(session.listen)
        if await cases.check("initialize", session.hello):
            await cases.run_all(Peer(session))
        tasks.cancel_scope.cancel()


anyio.run(main)
cases.finish()
