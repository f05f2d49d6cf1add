"""Clients that are made of SDKs, with the settings that `dragoman connect --print` shows: each must list every tool.

  python sdks.py WORLD
"""

import asyncio
import json
import sys
import traceback

WORLD = json.load(open(sys.argv[1]))
URL, TOOLS = WORLD["url"], set(WORLD["tools"])
SECONDS = 60


async def mcp_use():
    from mcp_use import MCPClient

    client = MCPClient.from_dict({"mcpServers": {"dragoman": {"url": URL}}})
    try:
        session = await client.create_session("dragoman")
        return {tool.name for tool in await session.list_tools()}
    finally:
        await client.close_all_sessions()


async def langchain():
    from langchain_mcp_adapters.client import MultiServerMCPClient

    client = MultiServerMCPClient({"dragoman": {"transport": "streamable_http", "url": URL}})
    return {tool.name for tool in await client.get_tools()}


async def openai_agents():
    from agents.mcp import MCPServerStreamableHttp

    async with MCPServerStreamableHttp(params={"url": URL}, name="dragoman") as server:
        return {tool.name for tool in await server.list_tools()}


async def main():
    failed = 0
    for client in (mcp_use, langchain, openai_agents):
        try:
            seen = await asyncio.wait_for(client(), SECONDS)
            assert seen == TOOLS, f"missing {sorted(TOOLS - seen)}, surplus {sorted(seen - TOOLS)}"
            print(f"ok {client.__name__} lists every tool")
        except Exception:
            failed += 1
            print(f"not ok {client.__name__} lists every tool: {traceback.format_exc().strip()!r}")
    sys.exit(1 if failed else 0)


asyncio.run(main())
