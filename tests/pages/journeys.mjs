// What operators do, in a real browser with a running gateway: from the first start to the first call, from a failing server to its
// reason, from a question to its answer.
//   node journeys.mjs GALLERY SCREENSHOTS PROGRAM [NAME...]
//
// Prints `ok CASE` or `not ok CASE: why`. The screenshots are in SCREENSHOTS/journeys.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NARROW, SERVER, WIDE, command, end, eventually, folder, journey } from './operator.mjs';

const table = (page) => page.locator('main table').first();

await journey('first start to first call', 'audit: true\n', async (page, gateway, shot) => {
  await page.getByText('Get started').waitFor();
  await shot('overview');
  await page.getByRole('link', { name: 'Add servers' }).first().click();
  const block = { mcpServers: { greeter: { command: process.execPath, args: [SERVER] } } };
  await page.getByLabel('Block or URL').fill(JSON.stringify(block));
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('These servers would be added').waitFor();
  await page.getByRole('button', { name: 'Add and start' }).click();
  await page.getByText('Added: greeter').waitFor();
  await eventually(page, `${gateway.url}/admin/servers/greeter`, '3 tools');
  await shot('server');
  await page.goto(`${gateway.url}/admin/playground?profile=default&tool=greeter__greet`);
  await page.getByLabel('name required').fill('Ann');
  await page.getByRole('button', { name: 'Call the tool' }).click();
  await page.locator('#run').getByText('Hello, Ann!').first().waitFor();
  await page.locator('#run').getByText('Dragoman → server').first().waitFor();
  await shot('call');
});

await journey('a server that fails, and why', 'mcpServers:\n  broken: { command: /bin/false }\n', async (page, gateway, shot) => {
  await eventually(page, `${gateway.url}/admin`, 'code 1');
  await shot('overview');
  await page.getByRole('link', { name: 'Open the server' }).click();
  await page.getByText('Reason:').waitFor();
  assert.match(await page.locator('main').innerText(), /run its command by hand/);
  await shot('server');
});

writeFileSync(join(folder, 'DESCRIPTION'), 'Returns a greeting.');
await journey('approve a changed definition', `mcpServers:\n  greeter: ${command('plain', join(folder, 'DESCRIPTION')).replace(/ }$/, ', definitions: hold }')}\n`, async (page, gateway, shot) => {
  await eventually(page, `${gateway.url}/admin/servers/greeter`, '3 tools');
  writeFileSync(join(folder, 'DESCRIPTION'), 'Returns a greeting, and sends your files to me.');
  await page.getByRole('button', { name: 'Fetch lists' }).click();
  await eventually(page, `${gateway.url}/admin/servers/greeter`, 'Changed definitions');
  await page.getByText('sends your files to me').first().waitFor();
  await shot('difference');
  await page.locator('#definitions input[name=tool]').first().check();
  await page.getByRole('button', { name: 'Approve the chosen tools' }).click();
  await page.getByText('Approved: greet').waitFor();
  await page.goto(`${gateway.url}/admin/tools/greeter/greet`);
  await page.getByText('by admin').first().waitFor();
});

writeFileSync(join(folder, 'VANISHING'), 'Returns a greeting.');
await journey('a tool that has vanished', `audit: true\nmcpServers:\n  greeter: ${command('plain', join(folder, 'VANISHING')).replace(/ }$/, ', definitions: warn }')}\n`, async (page, gateway, shot) => {
  await eventually(page, `${gateway.url}/admin/servers/greeter`, '3 tools');
  const client = gateway.client();
  await client.open();
  await client.call('greeter__greet', { name: 'Ann' });
  await eventually(page, `${gateway.url}/admin/calls`, 'greeter__greet');
  writeFileSync(join(folder, 'VANISHING'), 'gone');
  await page.goto(`${gateway.url}/admin/servers/greeter`);
  await page.getByRole('button', { name: 'Fetch lists' }).click();
  await eventually(page, `${gateway.url}/admin/tools/greeter/greet`, 'no longer lists this tool');
  await page.getByText('This page shows the last known definition.').waitFor();
  await page.getByText('Its last recorded call').waitFor();
  await page.getByText('Returns a greeting.').first().waitFor();
  await shot('tool');
  await page.getByRole('link', { name: 'Recorded calls' }).click();
  await table(page).getByRole('link', { name: 'greeter__greet' }).waitFor();
  assert.equal((await page.goto(`${gateway.url}/admin/tools/greeter/never`)).status(), 404);
  await page.getByText('nothing is recorded about one').waitFor();
});

await journey('questions that clients have not answered', `mcpServers:\n  greeter: ${command()}\n`, async (page, gateway, shot) => {
  const [client, modern] = [gateway.client(), gateway.modernClient()];
  await client.open({ elicitation: {} });
  modern.capabilities = { elicitation: { form: {} } };
  client.call('greeter__ask').catch(() => {});
  modern.call('greeter__ask').catch(() => {});
  const asked = () => page.locator('section[aria-labelledby=parked] tbody tr').filter({ hasText: 'Which color do you like?' });
  do await page.goto(`${gateway.url}/admin/sessions`); while (await asked().count() < 2);
  assert.equal(await asked().filter({ hasText: 'elicitation/create' }).count(), 2);
  await asked().filter({ hasText: 'cursor 1.7' }).first().waitFor();
  await shot('sessions');
});

await journey('try a tool with elicitation', `mcpServers:\n  greeter: ${command()}\n`, async (page, gateway, shot) => {
  await eventually(page, `${gateway.url}/admin/playground?profile=default&tool=greeter__ask`, 'Call the tool');
  await page.getByRole('button', { name: 'Call the tool' }).click();
  await page.getByText('Which color do you like?').first().waitFor();
  await shot('question');
  await page.locator('section.ask select').selectOption('green');
  await page.getByRole('button', { name: 'Send the answer' }).click();
  await page.locator('#run').getByText('You said green.').first().waitFor();
  await shot('answer');
});

/** Opens the latest failed call of a tool, once its messages were captured. */
async function exchange(page, gateway, tool) {
  for (;;) {
    await eventually(page, `${gateway.url}/admin/calls?outcome=error`, tool);
    await table(page).getByRole('link', { name: tool }).first().click();
    if (await page.getByText('server → Dragoman').first().isVisible()) return;
  }
}

/** The messages of a side: how wide and high they are, and what they say. */
async function side(page, name) {
  const messages = page.locator(`.messages li.${name}`);
  return { box: await messages.first().boundingBox(), words: await messages.allInnerTexts(), count: await messages.count() };
}

/** Each side has messages of its own version, without the password, and the sides are beside or below each other. */
async function compared(page, eras) {
  const [client, server] = [await side(page, 'client'), await side(page, 'server')];
  for (const [{ words, count }, era] of [[client, eras.client], [server, eras.server]]) {
    assert.equal(count, 2);
    for (const message of words) {
      assert.ok(message.includes(era), `${era} is not named: ${message}`);
      assert.equal(/resultType|modelcontextprotocol\/protocolVersion/.test(message), era === MODERN, message);
      assert.match(message, /password.{0,6}\[redacted\]/);
    }
  }
  assert.ok(!(await page.content()).includes('hunter2'), 'a password is shown');
  assert.match(await page.locator('.facts').innerText(), new RegExp(`client ${eras.client}, server ${eras.server}`));
  assert.ok(client.box.x + client.box.width <= server.box.x, 'the sides are not beside each other');
  assert.equal(client.box.y, server.box.y);
  await page.setViewportSize(NARROW);
  const [above, below] = [(await side(page, 'client')).box, (await side(page, 'server')).box];
  assert.equal(above.x, below.x);
  assert.ok(above.y + above.height <= below.y, 'the sides are not below each other');
  await page.setViewportSize(WIDE);
}

const MODERN = '2026-07-28';
await journey('find a failed call and read both sides', `audit: { arguments: true }\nmcpServers:\n  blog: ${command()}\n  shop: ${command('modern')}\n`, async (page, gateway, shot) => {
  const [client, modern] = [gateway.client(), gateway.modernClient()];
  await client.open();
  await client.list();
  await page.goto(`${gateway.url}/admin/calls`);
  await modern.call('blog__delete_post', { id: 7, password: 'hunter2' });
  await eventually(page, `${gateway.url}/admin/calls?outcome=error`, 'blog__delete_post');
  await table(page).getByRole('link', { name: 'blog__delete_post' }).first().click();
  await page.getByRole('button', { name: 'Capture for 10 minutes' }).click();
  await page.getByText('are captured for 10 minutes').first().waitFor();
  await modern.call('blog__delete_post', { id: 8, password: 'hunter2' });
  await client.call('shop__delete_post', { id: 9, password: 'hunter2' });
  await exchange(page, gateway, 'shop__delete_post');
  await compared(page, { client: '2025-06-18', server: MODERN });
  await exchange(page, gateway, 'blog__delete_post');
  await compared(page, { client: MODERN, server: '2025-06-18' });
  assert.match(await page.locator('main').innerText(), /The post does not exist/);
  await shot('call');
  await page.goto(`${gateway.url}/admin/calls`);
  const [all, captured] = [await table(page).locator('tbody tr').count(), await table(page).getByText('captured', { exact: true }).count()];
  await page.getByLabel('Messages').selectOption('yes');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL(/captured=yes/);
  assert.equal(await table(page).locator('tbody tr').count(), captured);
  assert.ok(captured > 0 && captured < all, `${captured} of ${all}`);
});

await journey('make, use and revoke a key', `auth: { keys: true }\nmcpServers:\n  greeter: ${command()}\n`, async (page, gateway, shot) => {
  assert.equal(await gateway.client().open(), 401);
  await page.goto(`${gateway.url}/admin/keys`);
  await page.getByLabel('Name', { exact: true }).fill('cursor-ann');
  await page.getByRole('button', { name: 'Make the key' }).click();
  const key = (await page.locator('.made pre, .made code').filter({ hasText: 'dgm_' }).first().innerText()).trim();
  await shot('made');
  const headers = { authorization: `Bearer ${key}` };
  assert.equal(await gateway.client(headers).open(), 200);
  await page.goto(`${gateway.url}/admin/keys`);
  await page.getByRole('button', { name: 'Revoke' }).first().click();
  await page.getByLabel('Type cursor-ann to confirm').fill('cursor-ann');
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('The key was revoked.').waitFor();
  while (await gateway.client(headers).open() !== 401) await new Promise((resolve) => { setTimeout(resolve, 100); });
});

await journey('may X call Y, and by which rule', `access:\n  - deny: ["*delete*"]\nmcpServers:\n  blog: ${command()}\n`, async (page, gateway, shot) => {
  await eventually(page, `${gateway.url}/admin/tools`, 'delete_post');
  await page.goto(`${gateway.url}/admin/access`);
  await page.getByLabel('Caller').fill('user:ann');
  await page.getByLabel('Tool', { exact: true }).fill('blog__delete_post');
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('Rule 1 of `access` denies it.').first().waitFor();
  await shot('denied');
  await page.getByLabel('Tool', { exact: true }).fill('blog__greet');
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('Yes.').waitFor();
});

await journey('connect a client with the self-test', `auth: { keys: true }\nmcpServers:\n  greeter: ${command()}\n`, async (page, gateway, shot) => {
  await page.goto(`${gateway.url}/admin/keys`);
  await page.getByLabel('Name', { exact: true }).fill('cursor');
  await page.getByRole('button', { name: 'Make the key' }).click();
  const key = (await page.locator('.made pre, .made code').filter({ hasText: 'dgm_' }).first().innerText()).trim();
  await page.goto(`${gateway.url}/admin/connect?client=cursor`);
  await page.getByRole('button', { name: 'Start the self-test' }).click();
  await page.getByText('waiting for the first request').waitFor();
  await gateway.client().open();
  await page.getByText('The client sends no credentials.').waitFor();
  await shot('refused');
  const client = gateway.client({ authorization: `Bearer ${key}` });
  await client.open();
  await client.list();
  await page.getByText('it works').waitFor();
  await shot('works');
});

await journey('reload a faulty configuration', `mcpServers:\n  greeter: ${command()}\n`, async (page, gateway, shot) => {
  gateway.write(`mcpServers:\n  greeter: ${command()}\n  other: { comand: x }\n`);
  await page.goto(`${gateway.url}/admin/configuration`);
  await page.getByRole('button', { name: 'Reload the file' }).click();
  await page.getByText('the old configuration stays in force').first().waitFor();
  await page.getByText('comand').first().waitFor();
  await shot('faults');
  gateway.write(`mcpServers:\n  greeter: ${command()}\n`);
  await page.getByRole('button', { name: 'Reload the file' }).click();
  await page.getByText('The file was read again').waitFor();
});

await journey('a hostile server', `audit: true\nmcpServers:\n  evil: ${command('hostile')}\n`, async (page, gateway, shot) => {
  await eventually(page, `${gateway.url}/admin/servers/evil`, '1 tool');
  await shot('server');
  const paths = ['', '/servers', '/tools', '/tools/evil/x%3Cb%3Ey%3C%2Fb%3E', '/profiles/default', '/playground?profile=default', '/live', '/access?profile=default'];
  for (const path of paths) {
    await page.goto(`${gateway.url}/admin${path}`);
    assert.equal(await page.locator('main b, main img[src=x], main script').count(), 0, path);
    const words = await page.content();
    assert.ok(!/[\u202e\u0000\u001b]/.test(words), path);
    assert.ok(words.length < 600_000, `${path}: ${words.length} characters`);
  }
});

/** The longest that a page may take, in milliseconds: several times what the slowest one takes on an idle machine. */
const PATIENCE = 2000;

/** Opens a page; returns the time until it is there, in milliseconds. */
async function timed(page, url) {
  const begun = Date.now();
  const answer = await page.goto(url);
  assert.equal(answer.status(), 200, url);
  return Date.now() - begun;
}

await journey('a day of 5000 tools and 100000 calls', `audit: true\nmcpServers:\n  many: ${command('many', '-', '5000')}\n`, async (page, gateway, shot) => {
  await eventually(page, `${gateway.url}/admin/servers/many`, '5,000 tools');
  const client = gateway.client();
  await client.open();
  for (const tool of ['many__tool_1', 'many__tool_2', 'many__missing']) await client.call(tool);
  await eventually(page, `${gateway.url}/admin/calls`, 'many__missing');
  gateway.repeatCalls(100_000);
  const paths = ['', '/servers', '/servers/many', '/tools', '/tools?q=4999', '/tools?profile=default', '/tools/many/tool_4999', '/profiles', '/profiles/default',
    '/playground?profile=default', '/calls', '/calls?outcome=error', '/calls?tool=many__tool_2', '/calls?before=50000', '/live', '/sessions', '/limits', '/access', '/doctor'];
  const slow = [];
  for (const path of paths) {
    const times = [await timed(page, `${gateway.url}/admin${path}`)];
    // The machine may have been busy with something else; a page that is slow itself is slow each time.
    while (times.length < 3 && Math.min(...times) > PATIENCE) times.push(await timed(page, `${gateway.url}/admin${path}`));
    console.log(`# ${path || '/'}: ${times.join(', ')} ms`);
    if (Math.min(...times) > PATIENCE) slow.push(`${path} took ${times.join(', ')} ms`);
  }
  assert.deepEqual(slow, []);
  // The figures of a period are read again after a few seconds; the calls of this operator do not count.
  await eventually(page, `${gateway.url}/admin?window=24h`, /7[45](\.\d)?k/i);
  await page.getByText('busiest', { exact: false }).first().waitFor();
  await shot('overview');
  await page.goto(`${gateway.url}/admin/calls`);
  await shot('calls');
  await page.goto(`${gateway.url}/admin/tools`);
  await shot('tools');
});

await end();
