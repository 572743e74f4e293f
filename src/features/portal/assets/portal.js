/**
 * On every page: keeps relative times current, switches the theme in place, handles toasts, double
 * clicks and the key of the search box, and shows the buttons that need scripts.
 */

const { now: loadedAt, locale } = document.documentElement.dataset;
if (loadedAt && locale) followTimes(Number(loadedAt) - Date.now(), locale);

/**
 * Formats relative times as `format.ts` does.
 * @param {number} offsetMs What the server's clock is ahead of the browser's.
 * @param {string} locale
 */
function followTimes(offsetMs, locale) {
  const counted = new Intl.RelativeTimeFormat(locale);
  const now = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(0, 'second');
  const units = /** @type {const} */ ([['minute', 60, 59], ['hour', 3600, 47], ['day', 86400, 30]]);
  const update = () => {
    for (const time of document.querySelectorAll('time[title]')) {
      if (!(time instanceof HTMLTimeElement)) continue;
      const seconds = (Date.parse(time.dateTime) - Date.now() - offsetMs) / 1000;
      const unit = units.find(([, size, limit]) => Math.abs(Math.round(seconds / size)) <= limit);
      // A date stays as it is.
      const text = Math.abs(seconds) < 60 ? now
        : unit && counted.format(Math.round(seconds / unit[1]), unit[0]);
      if (text !== undefined && text !== time.textContent) time.textContent = text;
    }
  };
  setInterval(update, 60_000);
  document.addEventListener('visibilitychange', update);
  document.addEventListener('timechange', update);
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!(button instanceof HTMLButtonElement) || !navigator.clipboard) continue;
  const source = document.getElementById(button.dataset.copy ?? '');
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source?.textContent ?? '');
    button.textContent = 'Copied';
  });
}

/** Passwords can be shown while they are typed; they are sent as passwords again. */
for (const button of document.querySelectorAll('button[data-reveal]')) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const input = document.getElementById(button.dataset.reveal ?? '');
  if (!(input instanceof HTMLInputElement)) continue;
  /** @param {boolean} isShown */
  const show = (isShown) => {
    input.type = isShown ? 'text' : 'password';
    button.setAttribute('aria-pressed', String(isShown));
  };
  button.hidden = false;
  button.addEventListener('click', () => show(input.type === 'password'));
  input.form?.addEventListener('submit', () => show(false));
  addEventListener('pagehide', () => show(false));
}

/** Safari forgets that tables whose rows are shown as cards are tables. */
/** @type {Record<string, string>} */
const ROLES = { TABLE: 'table', THEAD: 'rowgroup', TBODY: 'rowgroup', TR: 'row', TD: 'cell' };
for (const part of document.querySelectorAll('.cards, .cards :is(thead, tbody, tr, th, td)')) {
  const isRow = part.getAttribute('scope') === 'row';
  part.setAttribute('role', ROLES[part.tagName] ?? (isRow ? 'rowheader' : 'columnheader'));
}

/** A toast can be dismissed, and is not shown again when the page is reloaded. */
const url = new URL(location.href);
for (const name of ['done', 'change', 'theirs', 'attempt']) url.searchParams.delete(name);
if (url.href !== location.href) history.replaceState(history.state, '', url);
for (const button of document.querySelectorAll('button[data-dismiss]')) {
  if (!(button instanceof HTMLButtonElement)) continue;
  button.hidden = false;
  button.addEventListener('click', () => button.parentElement?.remove());
}

/**
 * Switches the theme in place, which keeps what was typed. The server remembers it.
 */
const themes = document.querySelector('form.theme');
themes?.addEventListener('submit', (event) => {
  if (!(event instanceof SubmitEvent) || !(themes instanceof HTMLFormElement)) return;
  const { submitter } = event;
  if (!(submitter instanceof HTMLButtonElement)) return;
  event.preventDefault();
  document.documentElement.dataset.theme = submitter.value;
  for (const button of themes.querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button === submitter));
  }
  const body = new URLSearchParams([...new FormData(themes)].map(([name, value]) =>
    [name, String(value)]).concat([['theme', submitter.value]]));
  fetch(themes.action, { method: 'POST', body, redirect: 'manual', keepalive: true });
});

/**
 * The key / focuses the search box, unless somebody is typing. The search page can turn it off in
 * this browser (WCAG 2.2, success criterion 2.1.4).
 */
const KEY_OFF = 'search-key-off';
const keySwitch = document.getElementById('search-key');
if (keySwitch) {
  const update = () => {
    const isOff = localStorage.getItem(KEY_OFF) !== null;
    keySwitch.textContent = isOff ? 'Turn this key on' : 'Turn this key off';
  };
  keySwitch.addEventListener('click', () => {
    if (localStorage.getItem(KEY_OFF) === null) localStorage.setItem(KEY_OFF, '1');
    else localStorage.removeItem(KEY_OFF);
    update();
  });
  keySwitch.hidden = false;
  update();
}
const searchBox = document.getElementById('search-box');
document.addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  if (key !== '/' || ctrlKey || metaKey || altKey || !(searchBox instanceof HTMLInputElement)) return;
  if (target instanceof Element && target.closest('input, textarea, select, [contenteditable]')) {
    return;
  }
  if (localStorage.getItem(KEY_OFF) !== null) return;
  event.preventDefault();
  searchBox.select();
  searchBox.focus();
});

/**
 * Ignores the second click of a double click on a form with a nonce. The server would not repeat
 * the action, but a secret that is shown once would be lost with the first response.
 */
const DOUBLE_CLICK_MS = 2000;
for (const form of document.forms) {
  if (!form.elements.namedItem('once')) continue;
  let sentAt = -Infinity;
  form.addEventListener('submit', (event) => {
    const now = performance.now();
    if (now - sentAt < DOUBLE_CLICK_MS) event.preventDefault();
    else sentAt = now;
  });
}
