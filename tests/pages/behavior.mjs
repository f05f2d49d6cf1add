// The scripts of the admin pages in a real browser, under the policy that the gateway sends: filters, streams, sheets, times, the keyboard.
//   node behavior.mjs GALLERY
//
// Prints `ok CASE` or `not ok CASE: why`.

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { check, finish } from '../check.mjs';
import { row, site } from './site.mjs';

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

/** The words that say how the stream of a page is. */
const state = (page, words) => page.locator('[data-stream-state]').filter({ hasText: words });

/** Waits until something is true. */
async function until(holds) {
  while (!await holds()) await new Promise((resolve) => { setTimeout(resolve, 20); });
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
  await state(page, 'Live').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await state(page, 'Paused, 0 new').waitFor();
  served.send('live', 'prepend', row('held_tool'));
  await state(page, 'Paused, 1 new').waitFor();
  assert.equal(await page.getByText('held_tool').count(), 0);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('held_tool').waitFor();
  assert.match(await page.locator('tbody tr').first().innerText(), /held_tool/);
});

await on('/admin/live', 'the stream of a replaced element ends', async (page) => {
  await state(page, 'Live').waitFor();
  await until(() => served.count('live') === 1);
  await page.evaluate(() => {
    document.querySelector('#list').replaceChildren();
    document.dispatchEvent(new CustomEvent('htmx:after:swap'));
  });
  await until(() => served.count('live') === 0);
});

await on('/admin', 'the numbers of this moment come over a stream', async (page) => {
  await state(page, 'Live').waitFor();
  const old = await page.locator('#now').evaluate((now) => now.outerHTML);
  assert.ok(!old.includes('4711'), old);
  served.send('now', 'replace', old.replace(/<strong>[^<]*<\/strong>/, '<strong>4711</strong>'));
  await page.locator('#now').getByText('4711').waitFor();
  await state(page, 'Live').waitFor();
});

await on('/admin', 'a stream that ended does not look alive', async (page) => {
  await state(page, 'Live').waitFor();
  served.end('now');
  await state(page, 'Connecting …').waitFor();
  assert.equal(await page.locator('#now').getAttribute('data-state'), 'waits');
});

await on('/admin/playground-run', 'news about a call keep a half-typed answer, and what is open', async (page) => {
  await until(() => served.count('run') > 0);
  const old = await page.locator('#run').evaluate((run) => run.outerHTML);
  const message = page.locator('[data-key="message-0"]');
  const wasOpen = await message.evaluate((details) => details.open);
  await message.locator('summary').click();
  await page.locator('.ask select').selectOption('tomorrow');
  await page.locator('.ask select').focus();
  served.send('run', 'replace', old.replace('asks you', 'asks you again').replaceAll('selected=""', ''));
  await page.getByText('asks you again').waitFor();
  assert.equal(await page.locator('.ask select').inputValue(), 'tomorrow');
  assert.equal(await page.evaluate(() => document.activeElement.closest('.ask') !== null), true);
  assert.equal(await message.evaluate((details) => details.open), !wasOpen);
  served.send('run', 'replace', old.replace('data-question="q1"', 'data-question="q2"').replace('The server asks', 'The server asks more'));
  await page.getByText('The server asks more').waitFor();
  assert.equal(await message.evaluate((details) => details.open), !wasOpen);
});

await on('/admin/playground-run', 'news about a call leave the focus where it is', async (page) => {
  await until(() => served.count('run') > 0);
  const old = await page.locator('#run').evaluate((run) => run.outerHTML);
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  const words = await page.locator('[data-key="message-0"] summary').innerText();
  for (const news of ['asks you again', 'asks you once more']) {
    await page.locator('[data-key="message-0"] summary').focus();
    served.send('run', 'replace', old.replace('asks you', news));
    await page.getByText(news).waitFor();
    assert.equal((await focused()).replaceAll(/\s+/g, ''), words.replaceAll(/\s+/g, ''));
  }
  // Another question, so that the whole run is replaced.
  await page.getByRole('button', { name: 'Cancel' }).focus();
  const other = old.replace('data-question="q1"', 'data-question="q2"');
  served.send('run', 'replace', other.replace('asks you', 'asks you more'));
  await page.getByText('asks you more').waitFor();
  assert.equal(await focused(), 'Cancel');
  // A call that is over cannot be cancelled.
  served.send('run', 'replace', other.replace('asks you', 'was done').replaceAll('Cancel<', 'Nothing<'));
  await page.getByText('was done').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'run');
});

await on('/admin/servers', 'a list that is replaced does not take the focus with it', async (page) => {
  const before = await page.evaluate(() => {
    const [filter, list, link] = ['[name=q]', '#list', '#list tbody a'].map((one) => document.querySelector(one));
    filter.value = 'note';
    filter.dispatchEvent(new Event('input', { bubbles: true }));
    // The list is asked for a little later.
    list.dataset.old = 'yes';
    link.focus();
    return link.textContent;
  });
  await page.locator('#list:not([data-old])').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), before);
});

await on('/admin/playground', 'another profile brings another form, and the filter of the tools leaves it alone', async (page) => {
  await page.evaluate(() => { globalThis.form = document.querySelector('.stage form'); });
  await page.getByLabel('Tool', { exact: true }).pressSequentially('post');
  await page.waitForURL(/q=post/);
  assert.equal(await page.evaluate(() => globalThis.form.isConnected), true);
  await page.getByLabel('Profile', { exact: true }).selectOption('default');
  await page.waitForURL(/profile=default/);
  await until(() => page.evaluate(() => !globalThis.form.isConnected));
  assert.match(page.url(), /tool=blog__wp_create_post/);
});

await on('/hostile/connect', 'a text that is not shown as it is has no button for copying', async (page) => {
  assert.ok(await page.locator('[data-copy]').count() > 0);
  assert.equal(await page.locator('[data-copy]:visible').count(), 0);
});

await on('/admin/keys', 'a sheet asks for the name, and Escape closes it', async (page) => {
  await page.getByRole('button', { name: 'Revoke' }).first().click();
  const sheet = page.getByRole('dialog');
  await sheet.waitFor();
  assert.equal(await sheet.getByLabel(/to confirm/).getAttribute('required'), '');
  await sheet.locator('input:focus').waitFor();
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Revoke');
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

await on('/admin/tools', 'the first key leads to the content', async (page) => {
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
