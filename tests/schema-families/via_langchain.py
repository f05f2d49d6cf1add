"""LangChain: `langchain-mcp-adapters` lists tools, and its models write them into requests.

Arguments: `openai` or `google`, and the command of a server. Prints a JSON array of `{name, inputSchema}`, or fails.
"""

import asyncio
import json
import sys

from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_google_genai._function_utils import convert_to_genai_function_declarations
from langchain_mcp_adapters.client import MultiServerMCPClient


def openai(tools: list) -> list:
    """The functions as `ChatOpenAI` sends them."""
    functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
    return [{"name": f["name"], "inputSchema": f.get("parameters")} for f in functions]


def google(tools: list) -> list:
    """The declarations as `ChatGoogleGenerativeAI` sends them; the types of that message are in capitals."""
    declared = [d for tool in convert_to_genai_function_declarations(tools) for d in tool.function_declarations or []]
    sent = [d.model_dump(mode="json", exclude_none=True, by_alias=True) for d in declared]
    empty = {"type": "object", "properties": {}}
    return [{"name": d["name"], "inputSchema": d.get("parametersJsonSchema") or d.get("parameters") or empty} for d in sent]


async def main() -> None:
    model, command, *args = sys.argv[1:]
    client = MultiServerMCPClient({"recorded": {"transport": "stdio", "command": command, "args": args}})
    tools = await client.get_tools()
    print(json.dumps({"openai": openai, "google": google}[model](tools)))


asyncio.run(main())
