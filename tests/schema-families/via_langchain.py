"""LangChain: `langchain-mcp-adapters` lists tools, and its models write them into requests.

Arguments: `openai` or `google`, and the command of a server. Prints a JSON array of `{name, inputSchema}` or `{name, threw}`, or fails.
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
    """The declarations as `ChatGoogleGenerativeAI` sends them, or why one cannot be: a failure concerns the whole request."""
    sent = []
    for tool in tools:
        try:
            [converted] = convert_to_genai_function_declarations([tool])
            [function] = converted.function_declarations
        except Exception as error:  # noqa: BLE001: whatever it raises is what its user gets
            sent.append({"name": tool.name, "threw": f"{type(error).__name__}: {error}"})
            continue
        fields = function.model_dump(mode="json", exclude_none=True, by_alias=True)
        schema = fields.get("parametersJsonSchema") or fields.get("parameters") or {"type": "object", "properties": {}}
        sent.append({"name": fields["name"], "inputSchema": schema})
    return sent


async def main() -> None:
    model, command, *args = sys.argv[1:]
    client = MultiServerMCPClient({"recorded": {"transport": "stdio", "command": command, "args": args}})
    tools = await client.get_tools()
    print(json.dumps({"openai": openai, "google": google}[model](tools)))


asyncio.run(main())
