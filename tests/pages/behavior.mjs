// The scripts of the admin pages in a real browser, under the policy that the gateway sends: filters, streams, sheets, times, the keyboard.
//   node behavior.mjs GALLERY
//
// Prints `ok CASE` or `not ok CASE: why`.

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { check, finish } from '../check.mjs';
import { site } from './site.mjs';

const [gallery] = process.argv.slice(2);
if (!gallery) {
  console.error('usage: node behavior.mjs GALLERY');
  process.exit(2);
}
const NOW = 1_795_665_963_000;
const served = await site(gallery);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });

/** Runs a case on a page of the gateway; the console must stay empty. */
async function on(path, name, run, options = {}) {
  await check(name, async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'], ...options });
    await context.clock.setFixedTime(NOW);
    const page = await context.newPage();
    const said = [];
    page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => said.push(String(error)));
    try {
      await page.goto(`${served.url}${path}`);
      await run(page);
      assert.deepEqual(said, []);
    } finally {
      await context.close();
    }
  });
}

await on('/admin/servers', 'a filter replaces the list without a new page, and stays in the address', async (page) => {
  await page.evaluate(() => { globalThis.same = true; document.querySelector('#list tbody').remove(); });
  await page.getByLabel('Name or description').pressSequentially('note');
  await page.locator('#list tbody tr').first().waitFor();
  await page.waitForURL(/q=note/);
  assert.equal(await page.evaluate(() => globalThis.same), true);
  assert.equal(await page.evaluate(() => document.activeElement.name), 'q');
});

await on('/admin/live', 'live events appear at the top, and wait while the page is paused', async (page) => {
  await page.getByText('fresh_tool').waitFor();
  assert.match(await page.locator('tbody tr').first().innerText(), /fresh_tool/);
  await page.getByText('Live', { exact: true }).last().waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused, 0 new').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
});

await on('/admin', 'the numbers of this moment come over a stream', async (page) => {
  await page.evaluate(() => { document.querySelector('#now span:last-child').textContent = 'old'; });
  await page.reload();
  await page.getByText('calls running').waitFor();
});

await on('/admin/keys', 'a sheet asks for the name, and Escape closes it', async (page) => {
  await page.getByRole('button', { name: 'Revoke' }).first().click();
  const sheet = page.getByRole('dialog');
  await sheet.waitFor();
  assert.equal(await sheet.getByLabel(/to confirm/).getAttribute('required'), '');
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'hidden' });
});

await on('/admin/keys-made', 'a new key can be copied', async (page) => {
  await page.getByRole('button', { name: 'Copy: the new key' }).click();
  await page.getByText('Copied').waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^dgm_[0-9A-Za-z]{49}$/);
});

await on('/admin/servers', 'the exact time opens with the keyboard, and Escape closes it', async (page) => {
  const time = page.locator('.when').first();
  await time.locator('summary').focus();
  await page.keyboard.press('Enter');
  await time.getByText(/2026-11-26 \d\d:\d\d:\d\d UTC[\s\S]* here/).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await time.evaluate((element) => element.open), false);
});

await on('/admin/servers', 'the first key leads to the content', async (page) => {
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to content');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
});

await on('/admin/access', 'a text that is no JSON is not sent', async (page) => {
  await page.getByLabel('Arguments as JSON').fill('{ "a": ');
  const message = await page.getByLabel('Arguments as JSON').evaluate((area) => area.validationMessage);
  assert.match(message, /This is not JSON/);
});

await on('/admin/servers', 'on a narrow screen the menu opens and closes', async (page) => {
  assert.equal(await page.getByRole('link', { name: 'Doctor' }).isVisible(), false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Doctor' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Doctor' }).waitFor({ state: 'hidden' });
}, { viewport: { width: 320, height: 700 } });

await on('/admin/servers', 'without scripts a filter is a new page', async (page) => {
  await page.getByLabel('Name or description').fill('note');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL(/q=note/);
}, { javaScriptEnabled: false });

await browser.close();
served.close();
finish();
