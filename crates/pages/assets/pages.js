// Improves the admin pages where the browser can: streams, relative times, copy buttons, JSON fields. Every page works without it.

const MOST_ROWS = 200;

/** Replaces an element by HTML that the server has rendered, and lets htmx and this script see the new one. */
function replace(target, html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  const fresh = template.content.firstElementChild;
  if (!fresh) return;
  for (const each of fresh.querySelectorAll('details')) {
    const old = detailsLike(each, target);
    if (old) each.open = old.open;
  }
  const focused = document.activeElement;
  const stays = replaceAround(target, fresh);
  if (!stays) target.replaceWith(fresh);
  const shown = stays ? target : fresh;
  refocus(focused, shown);
  window.htmx?.process(shown);
  improve(shown);
}

/** Gives the focus back after the focused control was replaced with the part around it: to the same control, else to the part. */
function refocus(control, part = successor(control)) {
  if (!control || control.isConnected) return;
  const like = controlLike(control, part);
  if (!like) part.tabIndex = -1;
  (like ?? part).focus({ preventScroll: true });
}

/** The part of the page that now has the place of the part in which a replaced control was. */
function successor(control) {
  for (let part = control?.parentElement; part; part = part.parentElement) {
    const now = part.id && document.getElementById(part.id);
    if (now) return now;
  }
  return document.querySelector('main');
}

/** The control that does the same as a replaced one: it is in the same details, and has the same id, name, and label or words. */
function controlLike(control, part) {
  const details = control.closest('details');
  const around = details ? detailsLike(details, part) : part;
  return [...around?.querySelectorAll(control.localName) ?? []].find((each) => each.id === control.id && each.name === control.name && each.ariaLabel === control.ariaLabel
    && (details || each.ariaLabel || control.matches('input, select, textarea') || each.textContent === control.textContent));
}

/** The part of an element that shows the same as `details`. What has no key and no time is not known again. */
function detailsLike(details, root) {
  const key = (each) => each.dataset.key ?? each.querySelector('time')?.dataset.at;
  const wanted = key(details);
  return wanted && [...root.querySelectorAll('details')].find((each) => key(each) === wanted);
}

/** Replaces everything around a question that is still asked, so that a half-typed answer stays. Returns true if there was one. */
function replaceAround(target, fresh) {
  const asked = target.querySelector(':scope > .ask');
  const now = fresh.querySelector(':scope > .ask');
  if (!asked || !now || asked.dataset.question !== now.dataset.question) return false;
  for (const node of [...target.childNodes]) if (node !== asked) node.remove();
  let before = true;
  for (const node of [...fresh.childNodes]) {
    if (node === now) before = false;
    else if (before) asked.before(node);
    else target.append(node);
  }
  for (const name of target.getAttributeNames()) if (!fresh.hasAttribute(name)) target.removeAttribute(name);
  for (const name of fresh.getAttributeNames()) target.setAttribute(name, fresh.getAttribute(name));
  return true;
}

const streams = new Map();

/** Opens the stream of an element. It sends `replace` (an element with the same id), `prepend` (a row) or `end`. */
function listen(element) {
  const url = element.dataset.stream;
  const known = streams.get(url);
  if (known) {
    // A new list has all rows, also those that were held back.
    if (known.element !== element) Object.assign(known, { element, paused: false, waiting: [] });
    tell(known);
    return;
  }
  const source = new EventSource(url);
  const close = () => { source.close(); streams.delete(url); };
  const stream = { source, paused: false, waiting: [], element, close };
  streams.set(url, stream);
  source.addEventListener('replace', ({ data }) => {
    const id = /\bid="([\w-]+)"/.exec(data)?.[1];
    const target = id && document.getElementById(id);
    if (!target) { close(); return; }
    replace(target, data);
    if (document.getElementById(id)?.dataset.stream !== url) close();
  });
  source.addEventListener('prepend', ({ data }) => {
    if (!stream.element.isConnected) { close(); return; }
    if (!stream.paused) { prepend(stream.element, [data]); return; }
    stream.waiting.unshift(data);
    stream.waiting.length = Math.min(stream.waiting.length, MOST_ROWS);
    tell(stream);
  });
  source.addEventListener('end', () => { close(); tell(stream, 'Ended'); });
  source.addEventListener('open', () => tell(stream));
  source.addEventListener('error', () => tell(stream));
}

/** Holds new rows back, or shows those that were held back. */
function pause(button) {
  const stream = streams.get(button.closest('[data-stream]')?.dataset.stream);
  if (!stream) return;
  stream.paused = !stream.paused;
  button.querySelector('.words').textContent = stream.paused ? 'Resume' : 'Pause';
  prepend(stream.element, stream.waiting.splice(0).reverse());
  tell(stream);
}

/** Says how a stream is. */
function tell({ source, paused, waiting, element }, ended) {
  const live = source.readyState === EventSource.OPEN;
  const waits = source.readyState === EventSource.CONNECTING;
  element.dataset.state = live ? 'live' : waits ? 'waits' : 'lost';
  const state = element.querySelector('[data-stream-state]');
  if (!state) return;
  if (ended) state.textContent = ended;
  else if (paused) state.textContent = `Paused, ${waiting.length} new`;
  else if (live) state.textContent = 'Live';
  else state.textContent = waits ? 'Connecting …' : 'Not connected. Load the page again.';
}

/** Closes the streams of elements that are no longer on the page. */
function closeForgotten() {
  for (const { element, close } of [...streams.values()]) if (!element.isConnected) close();
}

/** Puts rows at the top of a table. */
function prepend(element, rows) {
  const body = element.querySelector('tbody');
  if (!body) return;
  for (const html of rows) {
    const template = document.createElement('template');
    template.innerHTML = `<table><tbody>${html}</tbody></table>`;
    const row = template.content.querySelector('tr');
    if (!row) continue;
    row.classList.add('fresh');
    body.prepend(row);
    improve(row);
  }
  while (body.rows.length > (Number(element.dataset.most) || MOST_ROWS)) body.lastElementChild.remove();
  element.querySelector('.empty-line')?.remove();
}

/** A point in time, relative to now; the same words as the server's. */
function relative(at) {
  const distance = Math.abs(Date.now() - at);
  const later = at > Date.now();
  if (distance < 5000) return later ? 'in a moment' : 'just now';
  const [size, unit] = distance < 6e4 ? [1e3, 's'] : distance < 36e5 ? [6e4, 'min'] : distance < 864e5 ? [36e5, 'h'] : [864e5, 'd'];
  if (distance >= 30 * 864e5) return new Date(at).toISOString().slice(0, 10);
  const amount = `${Math.floor(distance / size)} ${unit}`;
  return later ? `in ${amount}` : `${amount} ago`;
}

function refreshTimes(root = document) {
  for (const time of root.querySelectorAll('time[data-at]')) {
    const words = relative(Number(time.dataset.at));
    if (time.textContent !== words) time.textContent = words;
  }
}

/** Adds the local time below the exact one, when it opens. */
function localTime(details) {
  const exact = details.querySelector('.exact');
  if (!exact || exact.dataset.local) return;
  exact.dataset.local = 'yes';
  const at = new Date(Number(details.querySelector('time').dataset.at));
  exact.append(`\n${at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })} here`);
}

/** Returns true if a text is shown as it is: without marks, and not cut. Only such a text is worth copying. */
function isWhole(text) {
  return Boolean(text) && !text.querySelector('.odd, .cut');
}

async function copy(button) {
  const text = document.getElementById(button.dataset.copy)?.textContent ?? '';
  const words = button.querySelector('.words');
  try {
    await navigator.clipboard.writeText(text);
    words.textContent = 'Copied';
  } catch {
    words.textContent = 'Select and copy by hand';
  }
  setTimeout(() => { words.textContent = 'Copy'; }, 2000);
}

/** Says where a JSON text is wrong, before the form is sent. */
function checkJson(area) {
  const text = area.value.trim();
  try {
    if (text) JSON.parse(text);
    area.setCustomValidity('');
  } catch (error) {
    area.setCustomValidity(`This is not JSON: ${error.message}`);
  }
}

/** Improves an element that is new on the page. */
function improve(root) {
  const all = (selector) => [...(root.matches?.(selector) ? [root] : []), ...root.querySelectorAll(selector)];
  for (const button of all('[data-copy]')) button.hidden = !navigator.clipboard || !isWhole(document.getElementById(button.dataset.copy));
  for (const button of all('[data-pause]')) button.hidden = false;
  all('[data-stream]').forEach(listen);
  closeForgotten();
  refreshTimes(root);
}

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('[data-copy], [data-pause]');
  if (button?.matches('[data-copy]')) copy(button);
  else if (button) pause(button);
});
document.addEventListener('input', ({ target }) => { if (target.matches?.('[data-json]')) checkJson(target); });
document.addEventListener('toggle', ({ target, newState }) => {
  if (target.matches?.('.sheet') && newState === 'open') target.querySelector('input:not([type="hidden"])')?.focus();
  if (!target.matches?.('.when') || !target.open) return;
  localTime(target);
  // Only one is open at a time.
  for (const other of document.querySelectorAll('.when[open]')) if (other !== target) other.open = false;
}, true);
document.addEventListener('keydown', ({ key, target }) => {
  const details = key === 'Escape' && target.closest?.('.when[open]');
  if (details) { details.open = false; details.querySelector('summary').focus(); }
});
let focusedBefore;
document.addEventListener('htmx:before:swap', () => { focusedBefore = document.activeElement; });
document.addEventListener('htmx:after:swap', () => {
  refocus(focusedBefore);
  improve(document.body);
});

setInterval(refreshTimes, 15_000);
setInterval(() => {
  if (document.hidden) return;
  for (const element of document.querySelectorAll('[data-refresh]')) {
    // What somebody reads or uses is not taken away.
    if (element.querySelector('details[open]') || element.contains(document.activeElement)) continue;
    window.htmx?.trigger(element, 'refresh');
  }
}, 10_000);

improve(document.body);
