// What operators do in a browser without JavaScript, with a running gateway: every page is readable, and every form is a plain one.
//   node no-script.mjs GALLERY SCREENSHOTS PROGRAM [NAME...]
//
// Prints `ok CASE` or `not ok CASE: why`.

import assert from 'node:assert/strict';
import { SERVER, end, enter, steps } from './operator.mjs';

/** Each page with its heading, and what it shows to an operator whose gateway has no servers; later it shows a table. */
const PAGES = [
  ['', 'Overview', 'Get started'],
  ['/servers', 'Servers', 'No servers yet'],
  ['/tools', 'Tools', 'No tools yet'],
  ['/profiles', 'Profiles', '/mcp/default'],
  ['/playground', 'Playground', 'Choose a tool'],
  ['/calls', 'Calls', '1 shown'],
  ['/live', 'Live', 'Without scripts, reload the page to see new events.'],
  ['/sessions', 'Sessions and streams', 'No sessions'],
  ['/keys', 'Keys', 'No keys yet'],
  ['/access', 'Access check', 'No access rules'],
  ['/limits', 'Limits', 'No rate limits'],
  ['/logins', 'Logins', 'No consents'],
  ['/configuration', 'Configuration', 'the configuration in force matches the file'],
  ['/connect', 'Connect a client', 'Start the self-test'],
  ['/replicas', 'Replicas', 'This gateway works alone'],
  ['/doctor', 'Doctor', 'The checks have not run yet'],
];

/** Opens a page, and reads its heading; returns its words. */
async function read(page, gateway, path, heading) {
  const answer = await page.goto(`${gateway.url}/admin${path}`);
  assert.equal(answer.status(), 200, path);
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), heading);
  assert.equal(await page.locator('main [hidden]:visible').count(), 0, path);
  return words(page);
}

/** The words of the page. (Searches for a text leave out what is only shown without scripts.) */
const words = (page) => page.locator('main').innerText();

/** Loads the page again until it shows a text: without scripts, nothing else brings news. */
async function reloaded(page, news) {
  while (!await page.getByText(news).first().isVisible()) await page.reload();
}

/** Reads every page of a gateway without servers, and adds a server. */
async function begin(page, gateway, step) {
  await step('read every page before there is something', async () => {
    await enter(page, gateway);
    for (const [path, heading, empty] of PAGES) {
      assert.ok((await read(page, gateway, path, heading)).includes(empty), path);
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Doctor' }).waitFor();
    }
  });
  await step('add a server, and restart it', async () => {
    await page.getByRole('link', { name: 'Servers', exact: true }).click();
    await page.getByLabel('Block or URL').fill(JSON.stringify({ mcpServers: { greeter: { command: process.execPath, args: [SERVER] } } }));
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('These servers would be added').waitFor();
    await page.getByRole('button', { name: 'Add and start' }).click();
    await page.getByText('Added: greeter').waitFor();
    await page.getByRole('table').getByRole('link', { name: 'greeter' }).click();
    await reloaded(page, '3 tools');
    await page.getByRole('button', { name: 'Restart' }).click();
    await page.getByRole('heading', { name: 'Restart the server?' }).waitFor();
    await page.getByRole('button', { name: 'Restart the server' }).click();
    await page.getByText('The server was restarted.').waitFor();
    await reloaded(page, '3 tools');
  });
  await step('deny a tool', async () => {
    await page.getByRole('link', { name: 'Tools', exact: true }).first().click();
    await page.getByLabel('As seen in profile').selectOption('default');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Choose delete_post').check();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Tools denied in the profile: 1.').waitFor();
    assert.match(await page.getByRole('row').filter({ hasText: 'delete_post' }).innerText(), /hidden/);
  });
}

/** Calls tools in the playground, and reads the messages of a call. */
async function call(page, gateway, step) {
  const choose = async (tool) => {
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('link', { name: tool }).click();
  };
  await step('call a tool in the playground', async () => {
    await choose('greeter__greet');
    await page.getByLabel('name required').fill('Ann');
    await page.getByRole('button', { name: 'Call the tool' }).click();
    await reloaded(page, 'Hello, Ann!');
  });
  await step('answer a question', async () => {
    await choose('greeter__ask');
    await page.getByRole('button', { name: 'Call the tool' }).click();
    assert.match(await words(page), /Reload the page to see what has happened since\./);
    await reloaded(page, 'The server asks');
    await page.locator('section.ask select').selectOption('green');
    await page.getByRole('button', { name: 'Send the answer' }).click();
    await reloaded(page, 'You said green.');
  });
  await step('capture and read the messages of a call', async () => {
    await page.goto(`${gateway.url}/admin/calls`);
    await reloaded(page, 'greeter__greet');
    await page.getByRole('table').getByRole('link', { name: 'greeter__greet' }).first().click();
    await page.getByRole('button', { name: 'Capture for 10 minutes' }).click();
    await page.getByText('are captured for 10 minutes').first().waitFor();
    await choose('greeter__greet');
    await page.getByLabel('name required').fill('Bob');
    await page.getByRole('button', { name: 'Call the tool' }).click();
    await reloaded(page, 'Hello, Bob!');
    // The list shows a call a moment after its answer; until then, the first row is the call before.
    do {
      await page.getByRole('link', { name: 'Calls', exact: true }).first().click();
      await page.getByRole('table').getByRole('link', { name: 'greeter__greet' }).first().click();
      await page.getByRole('heading', { name: 'greeter__greet' }).first().waitFor();
    } while (!await page.getByText('server → Dragoman').first().isVisible());
  });
}

/** Makes and revokes a key, asks about access, and reloads the file. */
async function manage(page, gateway, step) {
  await step('make and revoke a key', async () => {
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('cursor-ann');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByText(/dgm_\w{49}/).first().waitFor();
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByLabel('Type cursor-ann to confirm').fill('cursor-an');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('so the key was not revoked').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByLabel('Type cursor-ann to confirm').fill('cursor-ann');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The key was revoked.').waitFor();
  });
  await step('may X call Y', async () => {
    await page.getByRole('link', { name: 'Access check', exact: true }).click();
    await page.getByLabel('Caller').fill('user:ann');
    for (const [tool, answer] of [['greeter__delete_post', 'No.'], ['greeter__greet', 'Yes.']]) {
      await page.getByLabel('Tool', { exact: true }).fill(tool);
      await page.getByRole('button', { name: 'Check' }).click();
      await page.getByText(answer, { exact: true }).waitFor();
    }
  });
  await step('reload the configuration', async () => {
    gateway.write('audit: { arguments: true }\nmcpServers:\n  other: { comand: x }\n');
    await page.getByRole('link', { name: 'Configuration', exact: true }).click();
    await page.getByRole('button', { name: 'Reload the file' }).click();
    await page.getByText('the old configuration stays in force').first().waitFor();
    gateway.write('audit: { arguments: true }\n');
    await page.getByRole('button', { name: 'Reload the file' }).click();
    await page.getByText('The file was read again').waitFor();
  });
}

/** Reads every page when there is something on it, and logs out. */
async function again(page, gateway, step) {
  const more = [['/servers/greeter', 'greeter'], ['/tools/greeter/greet', 'greet'], ['/profiles/default', 'default']];
  const tables = new Set(['/servers', '/tools', '/calls', '/live', '/keys', '/servers/greeter', '/tools/greeter/greet']);
  await step('read every page when there is something', async () => {
    for (const [path, heading] of [...PAGES, ...more]) {
      await read(page, gateway, path, heading);
      if (tables.has(path)) await page.locator('main tbody tr').first().waitFor();
      if (path === '') assert.match(await words(page), /Without scripts, reload the page to see newer numbers\./);
    }
    await page.goto(`${gateway.url}/admin/calls`);
    await page.getByRole('table').getByRole('link').first().click();
    await page.getByRole('heading', { level: 1, name: 'Call of' }).waitFor();
  });
  await step('run the checks', async () => {
    await page.goto(`${gateway.url}/admin/doctor`);
    await page.getByRole('button', { name: 'Run the checks' }).click();
    await reloaded(page, 'greeter');
  });
  await step('a self-test says that it needs a new page', async () => {
    await page.goto(`${gateway.url}/admin/connect`);
    await page.getByRole('button', { name: 'Start the self-test' }).click();
    assert.match(await words(page), /Reload the page to see what has happened since\./);
    await gateway.client().open();
    await reloaded(page, 'the client is connecting');
  });
  await step('log out', async () => {
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in', level: 1 }).waitFor();
  });
}

await steps('without scripts', 'audit: true\n', { javaScriptEnabled: false }, async (page, gateway, step) => {
  await begin(page, gateway, step);
  await call(page, gateway, step);
  await manage(page, gateway, step);
  await again(page, gateway, step);
});

await end();
