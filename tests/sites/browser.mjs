// A browser as far as signing in needs one: cookies for each origin, redirects one by one, forms of pages.

import { strict as assert } from 'node:assert';

const ENTITIES = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#039;': "'", '&#39;': "'", '&#038;': '&' };
const plain = (text) => text.replace(/&(?:amp|lt|gt|quot|#0?39|#038);/g, (entity) => ENTITIES[entity]);
const attribute = (tag, name) => {
  const found = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag);
  return found && plain(found[1] ?? found[2]);
};

export class Browser {
  /** Cookies by origin: `Map` of names to values. */
  #cookies = new Map();

  /** Every address that it has opened, without the query. */
  opened = [];

  async request(address, options = {}) {
    const url = new URL(address);
    const jar = this.#cookies.get(url.origin) ?? new Map();
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie && { cookie }), ...options.headers };
    this.opened.push(`${url.origin}${url.pathname}`);
    const answer = await fetch(url, { ...options, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      jar.set(name, value);
    }
    this.#cookies.set(url.origin, jar);
    const to = answer.headers.get('location');
    return { status: answer.status, headers: answer.headers, text: await answer.text(), url, to: to && new URL(to, url).href };
  }

  /** Opens an address, and follows redirects as long as `goesOn` allows it. */
  async open(address, goesOn = () => true) {
    let page = await this.request(address);
    for (let hops = 0; page.to && goesOn(page.to); hops += 1) {
      assert.ok(hops < 10, `too many redirects: ${page.to}`);
      page = await this.request(page.to);
    }
    return page;
  }

  /** Sends the form of a page that contains `mark`, with these values on top of its own; redirects are not followed. */
  async submit(page, mark, values) {
    const forms = page.text.match(/<form[\s\S]*?<\/form>/gi) ?? [];
    const form = forms.find((one) => one.includes(mark));
    assert.ok(form, `${page.url} has no form with ${mark}: ${page.text.slice(0, 2000)}`);
    const fields = new URLSearchParams();
    for (const tag of form.match(/<input[^>]*>/gi) ?? []) {
      const [name, type] = [attribute(tag, 'name'), attribute(tag, 'type') ?? 'text'];
      if (name && !['submit', 'checkbox', 'radio'].includes(type)) fields.set(name, attribute(tag, 'value') ?? '');
    }
    for (const [name, value] of Object.entries(values)) fields.set(name, value);
    const to = new URL(attribute(/<form[^>]*>/i.exec(form)[0], 'action') || page.url.href, page.url);
    return this.request(to.href, { method: 'POST', body: fields, headers: { origin: page.url.origin, 'sec-fetch-site': 'same-origin' } });
  }
}
