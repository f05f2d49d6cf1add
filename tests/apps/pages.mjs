// Pages of MCP Apps in a real browser, each in a sandboxed frame of its own, and the way from a page to the host's `AppBridge`.

import { chromium } from 'playwright-core';

/** The browser of Debian's package. */
export async function browser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
}

/** The messages of a page, as a transport of the SDK. */
class FrameTransport {
  constructor(host) {
    this.host = host;
  }

  async start() {}

  async send(message) {
    await this.host.evaluate((data) => document.querySelector('iframe').contentWindow.postMessage(data, '*'), message);
  }

  async close() {
    this.onclose?.();
  }
}

/**
 * A frame for the page of an app. The page gets its HTML once the bridge listens; it cannot reach any network. With `sameOrigin`, the page
 * has the origin of the host; otherwise it has an origin of its own.
 */
export async function frame(opened, sameOrigin = false) {
  const context = await opened.newContext({ offline: true });
  const host = await context.newPage();
  const transport = new FrameTransport(host);
  await host.exposeFunction('toBridge', (text) => transport.onmessage?.(JSON.parse(text)));
  const sandbox = sameOrigin ? 'allow-scripts allow-same-origin' : 'allow-scripts';
  await host.setContent(`<iframe sandbox="${sandbox}" style="width: 800px; height: 600px"></iframe>`);
  await host.evaluate(() => {
    addEventListener('message', ({ data, source }) => {
      if (source === document.querySelector('iframe').contentWindow) globalThis.toBridge(JSON.stringify(data));
    });
  });
  const show = (html) => host.evaluate((text) => { document.querySelector('iframe').srcdoc = text; }, html);
  return { transport, show, app: host.frameLocator('iframe'), close: () => context.close() };
}
