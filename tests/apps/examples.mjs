// The official example servers of MCP Apps that npm has, and what the page of each does. Nothing here knows the gateway.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Waits until a page shows a text. */
const see = (app, text) => app.getByText(text).first().waitFor();

/** The page of the six examples that do the same, each with another framework. */
export const TIME_PAGE = 'ui://get-time/mcp-app.html';
const time = (framework) => ({
  name: `basic-${framework}`,
  tool: 'get-time',
  page: TIME_PAGE,
  click: 'Get Server Time',
  calls: 'get-time',
  proof: ({ app, answer }) => see(app, answer.content[0].text),
});

/** The text of the document that the viewer of PDF files shows. */
const PDF_TEXT = 'Through a gateway';

/** Writes a document of one page. It has no cross-reference table; readers rebuild it. */
function pdf(folder) {
  const text = `BT /F 24 Tf 20 40 Td (${PDF_TEXT}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('');
  const path = join(folder, 'document.pdf');
  writeFileSync(path, `%PDF-1.4\n${body}trailer\n<< /Root 1 0 R >>\n`);
  return path;
}

/**
 * The examples. Each has a `tool` with a `page`. The columns say how the page uses its server, and are all optional:
 *
 * - `calls`: the tool that the page calls, by the server's own name, after a `click` on a button or by itself; `appOnly` if only pages
 *   may call the tool
 * - `reads`: the resource that the page reads
 * - `proof`: what shows that the page got the answer; `result` is the result of `tool`, and `answer` the one that the page asked for
 * - `why`: why no call of the page is checked; with `closed`, the page is not even opened
 * - `args`: the arguments of `tool`; `document` for a server that shows files; `sites` for one that fetches from the network
 * - `sameOrigin`: the page needs a host of its own origin, as it has in hosts that put a frame of their own around it
 *
 * Two servers of a profile are half of the rows apart; only servers of the first half have tools with the same name.
 */
export const EXAMPLES = [
  ...['vanillajs', 'preact', 'react', 'solid', 'svelte'].map(time),
  // Its page makes the app object reactive. Vue then reads a property of the host's window, which only the same origin may do.
  { ...time('vue'), sameOrigin: true },
  {
    name: 'budget-allocator',
    tool: 'get-budget-data',
    page: 'ui://budget-allocator/mcp-app.html',
    proof: ({ app, result }) => see(app, result.structuredContent.config.categories[0].name),
    why: 'its page shows the result, and calls no tool',
  },
  {
    name: 'scenario-modeler',
    tool: 'get-scenario-data',
    page: 'ui://scenario-modeler/mcp-app.html',
    proof: ({ app, result }) => app.getByText(result.structuredContent.templates[0].name).first().waitFor({ state: 'attached' }),
    why: 'its page shows the result, and calls no tool',
  },
  {
    name: 'shadertoy',
    tool: 'render-shadertoy',
    page: 'ui://shadertoy/mcp-app.html',
    why: 'its page draws with WebGL, and calls no tool',
  },
  {
    name: 'threejs',
    tool: 'show_threejs_scene',
    page: 'ui://threejs/mcp-app.html',
    why: 'its page draws with WebGL, and calls no tool',
  },
  {
    name: 'cohort-heatmap',
    tool: 'get-cohort-data',
    page: 'ui://get-cohort-data/mcp-app.html',
    calls: 'get-cohort-data',
    proof: ({ app, answer }) => see(app, answer.structuredContent.cohorts[0].cohortLabel),
  },
  {
    name: 'customer-segmentation',
    tool: 'get-customer-data',
    page: 'ui://customer-segmentation/mcp-app.html',
    calls: 'get-customer-data',
    proof: ({ app, answer }) => {
      const { customers } = JSON.parse(answer.content[0].text);
      return see(app, `(${customers.filter((customer) => customer.segment === 'SMB').length})`);
    },
  },
  {
    name: 'debug',
    tool: 'debug-tool',
    page: 'ui://debug-tool/mcp-app.html',
    click: 'Call debug-refresh',
    calls: 'debug-refresh',
    appOnly: true,
    proof: ({ app }) => see(app, 'server-tool-result'),
  },
  {
    name: 'pdf',
    tool: 'display_pdf',
    page: 'ui://pdf-viewer/mcp-app.html',
    document: pdf,
    args: (document) => ({ url: document }),
    calls: 'read_pdf_bytes',
    appOnly: true,
    proof: ({ app }) => see(app, PDF_TEXT),
  },
  {
    name: 'system-monitor',
    tool: 'get-system-info',
    page: 'ui://system-monitor/mcp-app.html',
    calls: 'poll-system-stats',
    appOnly: true,
    proof: ({ app, result }) => see(app, result.structuredContent.hostname),
  },
  {
    name: 'video-resource',
    tool: 'play_video',
    page: 'ui://video-player/mcp-app.html',
    sites: true,
    reads: 'videos://bunny-1mb',
    proof: async ({ app, answer }) => {
      // These are the bytes in `sites.mjs`.
      assert.equal(Buffer.from(answer.contents[0].blob, 'base64').toString(), 'the bytes of a video');
      // The choice comes from the list of resources, which the page asks for.
      await app.getByRole('button', { name: 'Change Video' }).click();
      await app.getByText('bunny-150mb').first().waitFor({ state: 'attached' });
    },
  },
  {
    name: 'wiki-explorer',
    tool: 'get-first-degree-links',
    page: 'ui://wiki-explorer/mcp-app.html',
    sites: true,
    args: () => ({ url: 'https://en.wikipedia.org/wiki/Model_Context_Protocol' }),
    click: '↺',
    calls: 'get-first-degree-links',
    proof: ({ answer }) => assert.equal(answer.structuredContent.links[0].title, 'Gateway'),
  },
  {
    name: 'sheet-music',
    tool: 'play-sheet-music',
    page: 'ui://sheet-music/mcp-app.html',
    args: () => ({ abcNotation: 'X:1\nT:Through a gateway\nK:C\nCDEF|' }),
    proof: ({ app }) => app.getByText('Through a gateway', { exact: true }).first().waitFor(),
    why: 'its page shows the arguments, and calls no tool',
  },
  {
    name: 'transcript',
    tool: 'transcribe',
    page: 'ui://transcript/mcp-app.html',
    proof: ({ app }) => see(app, 'Your speech will appear here'),
    why: 'its page listens to a microphone, and calls no tool',
  },
  {
    name: 'map',
    tool: 'show-map',
    page: 'ui://cesium-map/mcp-app.html',
    closed: true,
    why: 'its page loads CesiumJS from the network before it speaks to its host',
  },
];

/** The command of an example's server, and the arguments that its tool gets. */
export function prepared(example, folder) {
  const entry = fileURLToPath(import.meta.resolve(`@modelcontextprotocol/server-${example.name}`)).replace(/server\.js$/, 'index.js');
  const before = example.sites ? ['--import', new URL('sites.mjs', import.meta.url).href] : [];
  const document = example.document?.(folder);
  const after = document ? [document] : [];
  return {
    server: { command: process.execPath, args: [...before, entry, '--stdio', ...after] },
    args: example.args?.(document) ?? {},
  };
}
