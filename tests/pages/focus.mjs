// The keyboard of an operator: the keys are pressed one at a time, and after each one the focused element is looked at. It must be
// visible, and look different from before it was focused; a part of the page that is replaced must not take the focus with it.

import assert from 'node:assert/strict';

/** Presses of Tab after which an element counts as unreachable. */
const MOST = 150;

/** Everything below runs in the page, before its own scripts. It says in the console if a replaced part takes the focus with it. */
function watch() {
  const focusable = 'a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex]';
  const unfocused = new WeakMap();
  const numbers = new WeakMap();
  let count = 0;
  const number = (element) => numbers.get(element) ?? numbers.set(element, count += 1).get(element);
  /** The marks of focus of an element, as texts that are equal if the element looks the same. */
  const marks = (element) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(element);
    const outline = outlineStyle === 'none' || outlineWidth === '0px' ? 'none' : `${outlineStyle} ${outlineWidth} ${outlineColor}`;
    return `outline ${outline}, shadow ${boxShadow}`;
  };
  const name = (element) => (element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '').replaceAll(/\s+/g, ' ').trim();
  /** Returns true if some of an element can be seen: it has a size, is in the window, and nothing covers it. */
  const isVisible = (element) => {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) return false;
    return [...element.getClientRects()].some(({ left, right, top, bottom }) => {
      const [x1, x2, y1, y2] = [Math.max(left, 0), Math.min(right, innerWidth), Math.max(top, 0), Math.min(bottom, innerHeight)];
      if (x2 - x1 < 2 || y2 - y1 < 2) return false;
      return [0.5, 0.1, 0.9].some((part) => {
        const hit = document.elementFromPoint(x1 + (x2 - x1) * part, y1 + (y2 - y1) * part);
        return hit !== null && (element.contains(hit) || hit.contains(element) && element.labels?.length > 0);
      });
    });
  };
  let [last, isTabbing] = [undefined, false];
  // Before each key, the look of everything that has no focus is remembered.
  document.addEventListener('keydown', ({ key }) => {
    isTabbing = key === 'Tab';
    for (const each of document.querySelectorAll(focusable)) if (each !== document.activeElement) unfocused.set(each, marks(each));
  }, true);
  globalThis.focusNow = () => {
    const element = document.activeElement;
    if (element === null || element === document.body) return undefined;
    const before = unfocused.get(element) ?? 'outline none, shadow none';
    return { number: number(element), tag: element.localName, name: name(element), id: element.id, visible: isVisible(element), before, now: marks(element) };
  };
  globalThis.reachable = () => [...document.querySelectorAll(focusable)]
    .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility())
    .map((each) => ({ number: number(each), what: `<${each.localName}> "${name(each)}"` }));
  document.addEventListener('keyup', () => { isTabbing = false; });
  document.addEventListener('focusin', ({ target }) => { last = target; });
  // Only a key takes the focus away on purpose: an element that is removed loses it, too.
  document.addEventListener('focusout', () => { if (isTabbing) last = undefined; });
  new MutationObserver(() => {
    const gone = last;
    // What replaces it may take the focus a moment later.
    if (gone !== undefined && !gone.isConnected) setTimeout(() => {
      if (gone === last && document.activeElement === document.body) console.error(`the focus was on <${gone.localName}> "${name(gone)}", and was lost when it was replaced`);
    }, 50);
  }).observe(document, { childList: true, subtree: true });
}

/** An operator who has only a keyboard. */
export class Keyboard {
  /** @param page a page that has not been opened yet */
  static async at(page) {
    await page.addInitScript(watch);
    return new Keyboard(page);
  }

  constructor(page) {
    this.page = page;
  }

  /** The focused element, of which some must be visible, with a mark; `undefined` if nothing is focused. */
  async focused() {
    const found = await this.page.evaluate(() => globalThis.focusNow());
    // The content is the target of the skip link: it is no control, and so needs no mark.
    if (found === undefined || found.id === 'main') return found;
    const what = `<${found.tag}> "${found.name.slice(0, 40)}" on ${this.page.url()}`;
    assert.ok(found.visible, `${what} has the focus, but cannot be seen`);
    assert.notEqual(found.now, found.before, `${what} has the focus, but looks as before`);
    return found;
  }

  /** Presses keys, one after the other, and looks at the focus. */
  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
    return this.focused();
  }

  /** Presses Tab until an element with this name is focused. */
  async to(tag, name, key = 'Tab') {
    const seen = [];
    for (let presses = 0; presses < MOST; presses += 1) {
      const found = await this.press(key);
      if (found?.tag === tag && (name instanceof RegExp ? name.test(found.name) : found.name === name)) return found;
      seen.push(found === undefined ? '-' : `${found.tag} ${found.name.slice(0, 20)}`);
    }
    return assert.fail(`${MOST} times ${key} do not reach <${tag}> "${name}" on ${this.page.url()}: ${seen.join(' | ')}`);
  }

  /** Goes to an element, and presses Enter, after which another page is loaded. */
  async follow(tag, name, key = 'Enter') {
    await this.to(tag, name);
    const loaded = this.page.waitForEvent('load');
    await this.page.keyboard.press(key);
    await loaded;
  }

  /** Goes to a field, and types a text. */
  async type(tag, name, text) {
    await this.to(tag, name);
    await this.page.keyboard.type(text);
    await this.focused();
  }

  /** Pastes a text into the focused field. */
  async paste(text) {
    await this.page.keyboard.insertText(text);
    await this.focused();
  }

  /** Presses Tab from the top of the page to its end, and so reaches everything that can be used. What is replaced meanwhile does not count. */
  async walk() {
    const reachable = () => this.page.evaluate(() => globalThis.reachable());
    const begun = await reachable();
    const seen = new Set([(await this.press('Tab')).number]);
    for (let presses = 0; presses < 2 * begun.length; presses += 1) {
      const found = await this.press('Tab');
      if (found === undefined || found.number === [...seen][0]) {
        const still = new Set((await reachable()).map(({ number }) => number));
        const left = begun.filter(({ number }) => still.has(number) && !seen.has(number)).map(({ what }) => what);
        return assert.deepEqual(left, [], `Tab does not reach everything on ${this.page.url()}`);
      }
      assert.ok(!seen.has(found.number), `the focus comes back to <${found.tag}> "${found.name}" on ${this.page.url()}`);
      seen.add(found.number);
    }
    return assert.fail(`${2 * begun.length} times Tab do not reach the end of ${this.page.url()}`);
  }
}
