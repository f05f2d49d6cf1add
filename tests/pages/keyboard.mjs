// What operators do with the keyboard alone, in a real browser with a running gateway: no mouse, and no focus that a script sets.
//   node keyboard.mjs GALLERY SCREENSHOTS PROGRAM [NAME...]
//
// Prints `ok CASE` or `not ok CASE: why`. After each key, the focused element can be seen, and looks focused (focus.mjs).

import assert from 'node:assert/strict';
import { Keyboard } from './focus.mjs';
import { NARROW, SERVER, end, steps } from './operator.mjs';

/** Signs in, and adds a server. */
async function begin(page, gateway, keys, step) {
  await step('sign in with the one-time link', async () => {
    await page.goto(gateway.admin);
    await keys.follow('button', 'Open the pages');
    assert.equal(page.url(), `${gateway.url}/admin`);
  });
  await step('skip to the content', async () => {
    assert.equal((await keys.press('Tab')).name, 'Skip to content');
    assert.equal((await keys.press('Enter')).id, 'main');
    await keys.press('Tab');
    assert.ok(await page.locator('main :focus').count() > 0);
  });
  await step('add a server from a block', async () => {
    await keys.follow('a', 'Servers');
    await keys.to('a', 'Add servers');
    await page.keyboard.press('Enter');
    assert.equal((await keys.press('Tab')).name, 'Block or URL');
    await keys.paste('{ "mcpServers": }');
    await keys.follow('button', 'Check');
    await page.locator('.faults:focus').waitFor();
    assert.match((await keys.focused()).name, /neither a URL nor valid JSON/);
    await keys.to('textarea', 'Block or URL', 'Shift+Tab');
    await keys.press('Control+a');
    await keys.paste(JSON.stringify({ mcpServers: { greeter: { command: process.execPath, args: [SERVER] } } }));
    await keys.follow('button', 'Check');
    await page.locator('.notice:focus').getByText('These servers would be added').waitFor();
    assert.equal((await keys.press('Tab')).name, 'Add and start');
    await keys.press('Shift+Tab');
    await keys.follow('button', 'Add and start');
    await page.getByText('Added: greeter').waitFor();
  });
}

/** Looks at the tools of a server, and calls some. */
async function call(page, keys, step) {
  await step('look at the tools of a server', async () => {
    await keys.follow('a', 'greeter');
    await keys.follow('button', 'Fetch lists');
    await page.getByText('The lists were fetched again.').waitFor();
    await keys.follow('a', 'Tools');
    await keys.type('input', 'Name or description', 'delete');
    await page.waitForURL(/q=delete/);
    assert.equal((await keys.focused()).name, 'Name or description');
    await keys.follow('a', 'delete_post');
    await page.getByRole('heading', { name: 'delete_post', level: 1 }).waitFor();
    await keys.to('summary', 'Input schema');
    await keys.press('Space');
    await page.getByRole('group', { name: 'Input schema' }).waitFor();
  });
  await step('go into a list before it is filtered', async () => {
    await keys.follow('a', 'Tools');
    const reached = Promise.withResolvers();
    await page.route(/q=greet/, async (route) => {
      await reached.promise;
      await route.continue();
    });
    await keys.type('input', 'Name or description', 'greet');
    await keys.to('a', 'greet');
    reached.resolve();
    await page.locator('#list tbody tr').nth(1).waitFor({ state: 'detached' });
    assert.equal((await keys.focused()).name, 'greet');
  });
  await step('fill in a form, and call a tool', async () => {
    await keys.follow('a', 'Playground');
    await keys.follow('a', 'greeter__greet');
    await keys.type('input', /^name/, 'Ann');
    await keys.follow('button', 'Call the tool');
    await page.locator('#run').getByText('Hello, Ann!').first().waitFor();
  });
  await step('answer a question', async () => {
    await keys.follow('a', 'greeter__ask');
    await keys.follow('button', 'Call the tool');
    await page.getByText('Which color do you like?').first().waitFor();
    await keys.to('select', /^color/);
    await keys.press('ArrowDown', 'ArrowDown');
    await keys.follow('button', 'Send the answer');
    await page.locator('#run').getByText('You said green.').first().waitFor();
  });
}

/** Finds a failed call, and reads what was sent. */
async function read(page, keys, step) {
  const fail = async (id) => {
    await keys.follow('a', 'Playground');
    await keys.follow('a', 'greeter__delete_post');
    await keys.type('input', 'id', id);
    await keys.follow('button', 'Call the tool');
    await page.locator('#run').getByText('The post does not exist.').first().waitFor();
    await keys.follow('a', 'Calls');
  };
  const open = async () => {
    await keys.to('select', 'Outcome');
    await keys.press(...'error');
    await page.waitForURL(/outcome=error/);
    assert.equal((await keys.focused()).name, 'Outcome');
    await keys.follow('a', 'greeter__delete_post');
  };
  await step('find a failed call', async () => {
    await fail('7');
    await open();
    await keys.follow('button', 'Capture for 10 minutes');
    await page.getByText('are captured for 10 minutes').first().waitFor();
  });
  await step('read the messages of a failed call', async () => {
    await fail('8');
    await open();
    const sent = page.locator('.messages .server details').first();
    await sent.waitFor();
    await keys.to('summary', /Dragoman → server/);
    await keys.press('Enter');
    assert.equal(await sent.evaluate((details) => details.open), false);
    await keys.press('Enter');
    await keys.press('Tab');
    assert.match(await page.locator(':focus').innerText(), /"id": 8/);
  });
}

/** Makes a key, and revokes it. */
async function key(page, keys, step) {
  await step('make a key', async () => {
    await keys.follow('a', 'Keys');
    await keys.to('a', 'New key');
    await page.keyboard.press('Enter');
    assert.equal((await keys.press('Tab')).name, 'Name');
    await keys.paste('cursor-ann');
    await keys.to('input', 'default');
    await keys.press('Space');
    assert.equal(await page.getByLabel('default').isChecked(), true);
    await keys.follow('button', 'Make the key');
    await page.getByText(/dgm_/).first().waitFor();
  });
  await step('revoke a key, after a question', async () => {
    const sheet = page.getByRole('dialog');
    await keys.to('button', 'Revoke');
    await keys.press('Enter');
    await sheet.locator('input:focus').waitFor();
    assert.match((await keys.focused()).name, /to confirm/);
    await keys.press('Escape');
    assert.equal(await sheet.isVisible(), false);
    assert.equal((await keys.focused()).name, 'Revoke');
    await keys.press('Enter');
    await sheet.locator('input:focus').waitFor();
    await keys.paste('cursor-ann');
    await keys.follow('button', 'Revoke');
    await page.getByText('The key was revoked.').waitFor();
  });
}

/** Walks through each page, and uses the menu of a narrow one. */
async function walk(page, gateway, keys, step) {
  const paths = ['', '/servers', '/servers/greeter', '/tools?profile=default', '/tools/greeter/greet', '/profiles', '/profiles/default', '/playground?tool=greeter__greet', '/calls',
    '/calls/1', '/live', '/sessions', '/keys', '/access', '/limits', '/logins', '/configuration', '/connect', '/replicas', '/doctor', '/login'];
  await step('Tab reaches everything on each page, and its end', async () => {
    for (const path of paths) {
      await page.goto(`${gateway.url}/admin${path}`);
      await keys.walk();
    }
  });
  await step('Shift and Tab lead back', async () => {
    await page.goto(`${gateway.url}/admin/servers`);
    const [first, second] = [await keys.press('Tab'), await keys.press('Tab')];
    assert.equal((await keys.press('Shift+Tab')).number, first.number);
    assert.equal((await keys.press('Tab')).number, second.number);
  });
  await step('the menu of a narrow page', async () => {
    await page.setViewportSize(NARROW);
    await page.goto(`${gateway.url}/admin/servers`);
    await keys.walk();
    await keys.to('button', 'Menu');
    await keys.press('Enter');
    await keys.to('a', 'Overview');
    await keys.press('Escape');
    assert.equal((await keys.focused()).name, 'Menu');
    await keys.press('Enter');
    await keys.follow('a', 'Doctor');
    await page.getByRole('heading', { name: 'Doctor', level: 1 }).waitFor();
  });
}

await steps('keyboard', 'audit: true\nauth: { keys: true }\n', {}, async (page, gateway, step) => {
  const keys = await Keyboard.at(page);
  await begin(page, gateway, keys, step);
  await call(page, keys, step);
  await read(page, keys, step);
  await key(page, keys, step);
  await walk(page, gateway, keys, step);
});

await end();
