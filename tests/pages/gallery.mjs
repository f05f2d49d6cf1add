// Every page of the gallery in a real browser: light, dark, forced colors, 320 pixels wide, and without scripts.
//   node gallery.mjs GALLERY SCREENSHOTS PROGRAM [--mode=MODE ...] [PAGE ...]
// PROGRAM is the binary, which the journeys need and this script does not.
//
// Prints `ok CASE` or `not ok CASE: why`. axe-core finds no violation of WCAG 2.2 AA, the console stays empty, no request leaves the site,
// and nothing makes a page wider than its window.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { check, finish } from '../check.mjs';
import { site } from './site.mjs';

const [gallery, screenshots, , ...named] = process.argv.slice(2);
const only = named.filter((name) => !name.startsWith('--mode='));
const onlyModes = named.filter((name) => name.startsWith('--mode=')).map((name) => name.slice(7));
if (!screenshots) {
  console.error('usage: node gallery.mjs GALLERY SCREENSHOTS PROGRAM [--mode=MODE ...] [PAGE ...]');
  process.exit(2);
}
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Parts of pages, which are no documents. */
const PARTS = ['overview-now'];

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 320, height: 720 };
/** The moment of the gallery, so that "3 min ago" stays true. */
const NOW = 1_795_665_963_000;
/** The rules whose result depends on colors: the others see the same document in every scheme. */
const COLORS = ['color-contrast', 'link-in-text-block'];
/** The ways to look at a page, and the data that is looked at. */
const MODES = [
  { name: 'light', data: ['lifelike', 'empty', 'one', 'hostile'], context: { viewport: WIDE, colorScheme: 'light' } },
  { name: 'dark', data: ['lifelike', 'hostile'], rules: COLORS, context: { viewport: WIDE, colorScheme: 'dark' } },
  { name: 'forced', data: ['lifelike'], rules: COLORS, context: { viewport: WIDE, forcedColors: 'active' } },
  { name: 'narrow', data: ['lifelike', 'hostile'], context: { viewport: NARROW, colorScheme: 'light' } },
  { name: 'bare', data: ['lifelike'], context: { viewport: WIDE, javaScriptEnabled: false } },
  { name: 'light', data: ['many'], context: { viewport: WIDE, colorScheme: 'light' }, quick: true },
];

/** Opens a page and checks it. */
async function visit(context, url, { data, name, mode }) {
  const page = await context.newPage();
  const said = [];
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('dialog', (dialog) => { said.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => { if (!request.url().startsWith(url) && !request.url().startsWith('data:')) said.push(`request: ${request.url()}`); });
  page.on('response', (response) => { if (response.status() >= 400) said.push(`${response.status()}: ${response.url()}`); });
  try {
    await page.goto(`${url}/${data}/${name}`, { waitUntil: 'load' });
    const scripts = mode.context.javaScriptEnabled !== false;
    if (scripts) {
      const { width, inner } = await page.evaluate(() => ({ width: document.documentElement.scrollWidth, inner: innerWidth }));
      if (width > inner) assert.fail(`the page is ${width} pixels wide in a window of ${inner}: ${await widest(page)}`);
    }
    await page.screenshot({ path: join(screenshots, `${data}-${name}-${mode.name}.png`), fullPage: !mode.quick });
    // With 5 000 rows, axe-core takes minutes on some pages; the rows are of the same kinds as the others.
    if (scripts && !mode.quick) assert.deepEqual(await violations(page, mode.rules), []);
    if (!scripts) assert.ok((await page.locator('h1').innerText()).length > 0);
    assert.deepEqual(said, []);
  } finally {
    await page.close();
  }
}

/** The elements that are wider than the window. */
async function widest(page) {
  return page.evaluate(() => [...document.querySelectorAll('main *')]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest('.table, .code, .log'))
    .slice(0, 5).map((element) => `${element.tagName}.${element.className} ${element.textContent.slice(0, 30)}`).join(' | '));
}

/** The violations that axe-core finds, of these rules or of all. */
async function violations(page, rules) {
  await page.evaluate(AXE);
  const runOnly = rules ? { type: 'rule', values: rules } : { type: 'tag', values: TAGS };
  const found = await page.evaluate((only) => globalThis.axe.run(document, { runOnly: only, resultTypes: ['violations'] }), runOnly);
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.any[0]?.message ?? node.all[0]?.message ?? ''}`).join(' ; ')}`);
}

mkdirSync(screenshots, { recursive: true });
const served = await site(gallery);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
/** Pages that are open at the same time. */
const AT_ONCE = 3;
for (const mode of MODES.filter(({ name }) => onlyModes.length === 0 || onlyModes.includes(name))) {
  const context = await browser.newContext(mode.context);
  await context.clock.setFixedTime(NOW);
  const visits = mode.data.flatMap((data) => readdirSync(join(gallery, data))
    .map((file) => ({ data, name: file.replace(/\.html$/, ''), mode }))
    .filter(({ name }) => !PARTS.includes(name) && (only.length === 0 || only.includes(name))));
  const next = async () => {
    for (let one = visits.shift(); one; one = visits.shift()) {
      await check(`${mode.name}: ${one.data} ${one.name}`, () => visit(context, served.url, one));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  await context.close();
}
await browser.close();
served.close();
finish();
