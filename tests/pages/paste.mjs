// Texts that an operator pastes on the page Servers and that cannot be used, in a real browser with a running gateway.
//   node paste.mjs GALLERY SCREENSHOTS PROGRAM [NAME...]
//
// Prints `ok CASE` or `not ok CASE: why`. Each text stays in its field, adds nothing, and gets an answer that says what is wrong and where.

import assert from 'node:assert/strict';
import { NARROW, SERVER, WIDE, command, end, enter, steps } from './operator.mjs';

const GOOD = { command: process.execPath, args: [SERVER] };
const block = (servers) => JSON.stringify({ mcpServers: servers }, null, 2);

/** Texts with what the answer says of each. */
const FAULTY = [
  ['is no JSON', '{\n  "mcpServers": {\n    "good": { "command": "npx", }\n  }\n}', /neither a URL nor valid JSON: .* line 3 column \d+/],
  ['is neither a block nor a URL', 'npx -y server', /neither a URL nor valid JSON/],
  ['has no servers', '{ "mcpServers": {} }', /contains no servers/],
  ['has a bad entry beside a good one', block({ good: GOOD, bad: { cmd: 'npx' } }), /^bad: it has neither `command` nor `url`$/],
  ['has an entry that cannot be added', block({ good: GOOD, bad: { ...GOOD, args: 'server.mjs' } }), /^bad: `args` must be a list of strings$/],
  ['has a variable that is no text', block({ good: GOOD, bad: { ...GOOD, env: { PORT: 8080 } } }), /^bad: "PORT" in `env` must be a string$/],
  ['has a wrong address', block({ good: GOOD, bad: { url: 'example' } }), /^bad: .*url/],
  ['has a name that exists', block({ good: GOOD, greeter: GOOD }), /^There is already a server "greeter"\. Use another name\.$/],
  ['has a name without letters', block({ good: GOOD, '!?': GOOD }), /^!\?: `name` must contain letters or digits/],
  ['is blank', ' \n ', /^Paste a block of mcpServers, or a URL\.$/],
  ['is an address without a name', 'https://example.com/mcp', /^Enter a name for the server\.$/],
];

/** The servers of the list. */
const servers = (page) => page.locator('#list a.name').allInnerTexts();

/** Sends a text, and looks at the answer. */
async function refused(page, text, fault) {
  const area = page.getByLabel('Block or URL');
  await area.fill(text);
  const loaded = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Check' }).click();
  await loaded;
  const list = page.getByRole('alert');
  assert.match((await list.innerText()).trim(), fault);
  // The answer can be seen at once, although the form is below the list.
  const { y, height } = await list.boundingBox();
  assert.ok(y >= 0 && y + height <= page.viewportSize().height, 'the answer is outside the window');
  assert.equal(await area.inputValue(), text);
  assert.deepEqual(await servers(page), ['greeter']);
  assert.equal(await page.getByRole('button', { name: 'Add and start' }).count(), 0);
}

await steps('a text that cannot be used', `audit: true\nmcpServers:\n  greeter: ${command()}\n`, {}, async (page, gateway, step) => {
  await enter(page, gateway);
  await page.goto(`${gateway.url}/admin/servers`);
  for (const [words, text, fault] of FAULTY) await step(words, () => refused(page, text, fault));
  await step('is seen on a narrow screen', async () => {
    await page.setViewportSize(NARROW);
    await refused(page, ...FAULTY[0].slice(1));
    await page.setViewportSize(WIDE);
  });
  await step('is empty', async () => {
    const area = page.getByLabel('Block or URL');
    await area.fill('');
    await page.getByRole('button', { name: 'Check' }).click();
    assert.ok(await area.evaluate((empty) => empty.validity.valueMissing && empty === document.activeElement));
  });
  await step('is repaired, and then only adds what it says', async () => {
    await page.getByLabel('Block or URL').fill(block({ 'My notes': GOOD, other: GOOD }));
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('These servers would be added').waitFor();
    const preview = await page.locator('.notice li').allInnerTexts();
    assert.deepEqual(preview.map((line) => line.split(':')[0]), ['my-notes', 'other']);
    assert.deepEqual(await servers(page), ['greeter']);
    // Another text is shown again, before it is added.
    await page.getByLabel('Block or URL').fill(block({ 'My notes': { ...GOOD, env: { DEBUG: '1' } }, other: GOOD }));
    await page.getByRole('button', { name: 'Add and start' }).click();
    await page.locator('.notice li').getByText('with the variables DEBUG').waitFor();
    assert.deepEqual(await servers(page), ['greeter']);
    await page.getByRole('button', { name: 'Add and start' }).click();
    await page.getByText('Added: my-notes, other').waitFor();
    assert.deepEqual((await servers(page)).sort(), ['greeter', 'my-notes', 'other']);
  });
});

await end();
