// An operator at the pages of a running gateway, for the scripts that do what operators do: a gateway, a browser, and a page whose
// console stays empty.
//   node SCRIPT.mjs GALLERY SCREENSHOTS PROGRAM [NAME...]

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { check, finish, report } from '../check.mjs';
import { start } from './gateway.mjs';

const [, screenshots, program, ...only] = process.argv.slice(2);
if (!program) {
  console.error(`usage: node ${basename(process.argv[1])} GALLERY SCREENSHOTS PROGRAM [NAME...]`);
  process.exit(2);
}
export const WIDE = { width: 1280, height: 900 };
export const NARROW = { width: 320, height: 640 };
/** The server that the journeys use. */
export const SERVER = join(dirname(fileURLToPath(import.meta.url)), 'upstream.mjs');
export const folder = join(screenshots, 'journeys');
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });

/** The entry of a server in a configuration. */
export const command = (...args) => `{ command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify([SERVER, ...args])} }`;

/** Runs something with a gateway and a page; the console stays empty, and nothing is loaded from another host. */
export async function stage(config, options, run) {
  const gateway = await start(program, config);
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const faults = [];
  page.on('console', (message) => { if (!/status of (404|422|412)/.test(message.text())) faults.push(`${message.type()}: ${message.text()}`); });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('dialog', (dialog) => { faults.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => { if (new URL(request.url()).origin !== gateway.url && !request.url().startsWith('data:')) faults.push(`loaded ${request.url()}`); });
  try {
    await run(page, gateway);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
    await gateway.stop();
  }
}

/** Opens the pages with the one-time link. */
export async function enter(page, gateway) {
  await page.goto(gateway.admin);
  await page.getByRole('button', { name: 'Open the pages' }).click();
  await page.waitForURL(`${gateway.url}/admin`);
}

const isChosen = (name) => only.length === 0 || only.some((one) => name.includes(one));

/** Runs a journey of several steps, each a case, with one gateway and one page. A step that fails ends the journey. */
export async function steps(name, config, options, run) {
  if (!isChosen(name)) return;
  const step = async (words, act) => { if (!await check(`${name}: ${words}`, act)) throw new Error(`no further than: ${words}`); };
  const walked = stage(config, options, (page, gateway) => run(page, gateway, step));
  report(`${name}: to the end, and the console stays empty`, await walked.then(() => undefined, (error) => String(error?.message ?? error)));
}

/** Runs a journey with a gateway of its own. */
export async function journey(name, config, run) {
  if (!isChosen(name)) return;
  await check(name, () => stage(config, {}, async (page, gateway) => {
    await enter(page, gateway);
    await run(page, gateway, (words) => picture(page, `${name} ${words}`));
  }));
}

async function picture(page, name) {
  const file = name.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase();
  for (const [mode, set] of [
    ['light', { size: WIDE, colorScheme: 'light' }],
    ['dark', { size: WIDE, colorScheme: 'dark' }],
    ['narrow', { size: NARROW, colorScheme: 'light' }],
  ]) {
    await page.setViewportSize(set.size);
    await page.emulateMedia({ colorScheme: set.colorScheme });
    await page.screenshot({ path: join(folder, `${file}-${mode}.png`) });
  }
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Loads a page again until it contains a text. */
export async function eventually(page, path, words) {
  for (;;) {
    await page.goto(path);
    if (await page.getByText(words).first().isVisible()) return;
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
}

/** Ends the script. */
export async function end() {
  await browser.close();
  finish();
}
