// Every page of the gallery in a real browser: light, dark, forced colors, 320 pixels wide, and without scripts.
//   node gallery.mjs GALLERY SCREENSHOTS PROGRAM [--look=LOOK ...] [PAGE ...]
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
const only = named.filter((name) => !name.startsWith('--'));
const onlyLooks = named.filter((name) => name.startsWith('--look=')).map((name) => name.slice(7));
if (!screenshots) {
  console.error('usage: node gallery.mjs GALLERY SCREENSHOTS PROGRAM [--look=LOOK ...] [PAGE ...]');
  process.exit(2);
}
/** Pictures are for people and take long, so they are taken only if asked for: of the lifelike data, or of all. */
const pictures = process.env.DRAGOMAN_PICTURES ?? '';
const pictured = (data) => pictures === 'all' || (pictures !== '' && data === 'lifelike');
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
/** The ways to look at a page. A page is opened once and then looked at in each of its ways, as a user does who changes the settings. */
const LOOKS = {
  light: { viewport: WIDE, media: { colorScheme: 'light', forcedColors: 'none' } },
  dark: { viewport: WIDE, media: { colorScheme: 'dark', forcedColors: 'none' }, rules: COLORS },
  forced: { viewport: WIDE, media: { colorScheme: 'light', forcedColors: 'active' }, rules: COLORS },
  narrow: { viewport: NARROW, media: { colorScheme: 'light', forcedColors: 'none' } },
  bare: { viewport: WIDE, media: { colorScheme: 'light', forcedColors: 'none' } },
};
/** The data of pages, and how each is looked at. With 5 000 rows, axe-core takes minutes; the rows are of the same kinds as the others. */
const VISITS = [
  { data: 'lifelike', looks: ['light', 'dark', 'forced', 'narrow'] },
  { data: 'hostile', looks: ['light', 'narrow'] },
  { data: 'empty', looks: ['light'] },
  { data: 'one', looks: ['light'] },
  { data: 'many', looks: ['light'], long: true },
  { data: 'lifelike', looks: ['bare'], bare: true },
];

/** Opens a page, and looks at it in its ways. */
async function visit(context, url, { data, name, looks, long, bare }) {
  const page = await context.newPage();
  const said = [];
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('dialog', (dialog) => { said.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => { if (!request.url().startsWith(url) && !request.url().startsWith('data:')) said.push(`request: ${request.url()}`); });
  page.on('response', (response) => { if (response.status() >= 400) said.push(`${response.status()}: ${response.url()}`); });
  const opened = page.goto(`${url}/${data}/${name}`, { waitUntil: 'load' }).then(() => !bare && !long && page.evaluate(AXE));
  // A page that does not open fails each of its cases.
  opened.catch(() => {});
  for (const look of looks) {
    await check(`${look}: ${data} ${name}`, async () => {
      await opened;
      await looked(page, LOOKS[look], { picture: pictured(data) && join(screenshots, `${data}-${name}-${look}.png`), long, bare });
      assert.deepEqual(said.splice(0), []);
    });
  }
  await page.close();
}

/** Looks at an open page in one way. */
async function looked(page, { viewport, media, rules }, { picture, long, bare }) {
  await page.setViewportSize(viewport);
  await page.emulateMedia(media);
  // The faults of a refused form take the focus, and what the bar at the top then covers would count as too small.
  if (!bare) await page.evaluate(() => scrollTo(0, 0));
  if (picture) await page.screenshot({ path: picture, fullPage: true });
  if (bare) return assert.ok((await page.locator('h1').innerText()).length > 0);
  const { width, inner } = await page.evaluate(() => ({ width: document.documentElement.scrollWidth, inner: innerWidth }));
  if (width > inner) assert.fail(`the page is ${width} pixels wide in a window of ${inner}: ${await widest(page)}`);
  if (!long) assert.deepEqual(await violations(page, rules), []);
}

/** The elements that are wider than the window. */
async function widest(page) {
  return page.evaluate(() => [...document.querySelectorAll('main *')]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest('.table, .code, .log'))
    .slice(0, 5).map((element) => `${element.tagName}.${element.className} ${element.textContent.slice(0, 30)}`).join(' | '));
}

/** The violations that axe-core finds, of these rules or of all. */
async function violations(page, rules) {
  const runOnly = rules ? { type: 'rule', values: rules } : { type: 'tag', values: TAGS };
  const found = await page.evaluate((only) => globalThis.axe.run(document, { runOnly: only, resultTypes: ['violations'], iframes: false }), runOnly);
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.any[0]?.message ?? node.all[0]?.message ?? ''}`).join(' ; ')}`);
}

mkdirSync(screenshots, { recursive: true });
const served = await site(gallery);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
/** Pages that are open at the same time. */
const AT_ONCE = 3;
const settings = { reducedMotion: 'reduce' };
const contexts = { scripted: await browser.newContext(settings), bare: await browser.newContext({ ...settings, javaScriptEnabled: false }) };
for (const context of Object.values(contexts)) await context.clock.setFixedTime(NOW);
const visits = VISITS.flatMap(({ looks, ...visited }) => readdirSync(join(gallery, visited.data))
  .map((file) => ({ ...visited, looks: looks.filter((look) => onlyLooks.length === 0 || onlyLooks.includes(look)), name: file.replace(/\.html$/, '') }))
  .filter((one) => one.looks.length > 0 && !PARTS.includes(one.name) && (only.length === 0 || only.includes(one.name))));
const next = async () => {
  for (let one = visits.shift(); one; one = visits.shift()) {
    await visit(one.bare ? contexts.bare : contexts.scripted, served.url, one);
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, next));
await browser.close();
served.close();
finish();
