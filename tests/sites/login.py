"""The Python SDK signs in: prints the address that a browser has to open, reads the address with which the browser returns, calls a
tool, and prints its answer.

  python login.py URL TOOL ARGUMENTS
"""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlparse

import httpx
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

URL, TOOL, ARGUMENTS = sys.argv[1:]


class Memory(TokenStorage):
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def go(address):
    print("open", address, flush=True)


async def back():
    line = await asyncio.to_thread(sys.stdin.readline)
    found = parse_qs(urlparse(line.strip()).query)
    return found["code"][0], found["state"][0]


async def main():
    metadata = OAuthClientMetadata(
        client_name="The Python SDK",
        redirect_uris=["http://127.0.0.1:33419/callback"],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    auth = OAuthClientProvider(URL, metadata, Memory(), go, back)
    async with httpx.AsyncClient(auth=auth, timeout=30) as http:
        async with streamable_http_client(URL, http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                answer = await session.call_tool(TOOL, json.loads(ARGUMENTS))
                print("answer", answer.content[0].text.replace("\n", " "), flush=True)


asyncio.run(main())
