/**
 * Keeps a page's values current: follows the change feed from the page's position and updates the
 * elements with `data-live`, in the page's format. Text that the user typed is kept. Only visible
 * pages stay connected, because browsers allow few connections per server.
 */

/**
 * @typedef {{ name: string, category: string, sku: string, price: number, stock: number,
 *   low_stock?: number }} Product
 * @typedef {{ position: number, type: string, product_id: string, at: string,
 *   data: Product & { after: number } }} Change
 */

const MARKED_MS = 2_000;
const ANNOUNCE_AFTER_MS = 1_000;
/** Delay after a rejected connection; doubled each time, up to the limit. */
const RETRY_MS = 5_000;
const RETRY_LIMIT_MS = 5 * 60_000;

for (const root of document.querySelectorAll('[data-live-from]')) {
  if (root instanceof HTMLElement) follow(root);
}

/** @param {HTMLElement} root */
function follow(root) {
  const write = makeWriter(root);
  const announce = makeAnnouncer(root);
  let after = root.dataset['liveAfter'] ?? '';
  let retryMs = RETRY_MS;
  /** @type {EventSource | undefined} */
  let source;

  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(`${root.dataset['liveFrom']}?after=${after}`);
    source.addEventListener('open', () => { retryMs = RETRY_MS; });
    source.addEventListener('message', ({ data, lastEventId }) => {
      after = lastEventId;
      /** @type {Change} */
      const change = JSON.parse(data);
      showNotices(change);
      write(change);
      announce(change.type);
    });
    source.addEventListener('missed', ({ lastEventId }) => {
      after = lastEventId;
      announce('missed');
    });
    source.addEventListener('error', () => {
      // The browser reconnects after a lost connection, but not after a rejected request.
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      setTimeout(open, retryMs);
      retryMs = Math.min(2 * retryMs, RETRY_LIMIT_MS);
    });
  };
  const close = () => {
    source?.close();
    source = undefined;
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);
  open();
}

/**
 * Updates the values of a changed product.
 * @param {HTMLElement} root
 * @returns {(change: Change) => void}
 */
function makeWriter(root) {
  const { locale, timeZone, currency, decimals, lowStock } = root.dataset;
  const numbers = new Intl.NumberFormat(locale);
  const amounts = new Intl.NumberFormat(locale, {
    style: 'currency', currency: currency ?? '',
    minimumFractionDigits: Number(decimals), maximumFractionDigits: Number(decimals),
  });
  const times = new Intl.DateTimeFormat(locale, {
    timeZone, timeZoneName: 'short', year: 'numeric', month: 'short', day: 'numeric',
    hour: '2-digit', minute: '2-digit', second: '2-digit',
  });
  return ({ type, product_id: id, at, data }) => {
    const stock = type === 'stock' ? data.after : type === 'deleted' ? 0 : data.stock;
    /** @type {Record<string, string>} */
    const texts = { stock: numbers.format(stock), expect: String(stock) };
    if (type === 'created' || type === 'updated') {
      const { name, category, sku } = data;
      Object.assign(texts, { name, category, sku, price: amounts.format(data.price) });
    }
    const own = CSS.escape(id);
    const row = `tr:has(> th a[data-live][href$="/${own}"])`;
    for (const product of document.querySelectorAll(`[data-product="${own}"], ${row}`)) {
      for (const element of product.querySelectorAll('[data-live]')) {
        if (!(element instanceof HTMLElement)) continue;
        const member = element.dataset['live'] ?? '';
        if (element instanceof HTMLInputElement) element.value = texts[member] ?? element.value;
        else if (element instanceof HTMLTimeElement) showTime(element, at, times);
        else if (member === 'level') {
          if (type === 'updated') setThreshold(element, data.low_stock);
          showLevel(element, type, stock, Number(element.dataset['lowStock'] ?? lowStock));
        }
        else if (texts[member] !== undefined) replaceText(element, texts[member]);
      }
      product.classList.toggle('gone', type === 'deleted');
    }
  };
}

/**
 * Shows a moment that has just been; `portal.js` keeps it current.
 * @param {HTMLTimeElement} element
 * @param {string} at
 * @param {Intl.DateTimeFormat} times
 */
function showTime(element, at, times) {
  element.dateTime = at;
  element.title = times.format(new Date(at));
  document.dispatchEvent(new Event('timechange'));
}

/**
 * @param {HTMLElement} element
 * @param {string} text
 */
function replaceText(element, text) {
  if (element.textContent === text) return;
  element.textContent = text;
  element.classList.add('changed');
  setTimeout(() => element.classList.remove('changed'), MARKED_MS);
}

/**
 * The product's own low-stock threshold.
 * @param {HTMLElement} element
 * @param {number | undefined} lowStock
 */
function setThreshold(element, lowStock) {
  if (lowStock === undefined) delete element.dataset['lowStock'];
  else element.dataset['lowStock'] = String(lowStock);
}

/**
 * @param {HTMLElement} element
 * @param {string} type
 * @param {number} stock
 * @param {number} lowStock
 */
function showLevel(element, type, stock, lowStock) {
  const [tag, text] = type === 'deleted' ? ['tag bad', 'deleted']
    : stock === 0 ? ['tag bad', 'sold out'] : stock <= lowStock ? ['tag low', 'low'] : ['', ''];
  element.className = tag;
  element.textContent = text;
}

/**
 * Shows the notices for a change and counts it.
 * @param {Change} change
 */
function showNotices({ type, product_id: id }) {
  for (const notice of document.querySelectorAll('[data-live-show]')) {
    if (!(notice instanceof HTMLElement)) continue;
    const product = notice.closest('[data-product]');
    const isMatch = !(product instanceof HTMLElement) || product.dataset['product'] === id;
    if (!isMatch || !notice.dataset['liveShow']?.split(' ').includes(type)) continue;
    notice.hidden = false;
    const count = notice.querySelector('[data-live-count]');
    if (count) count.textContent = String(Number(count.textContent) + 1);
  }
}

/**
 * Announces the number of changes to screen readers, at most once a second.
 * @param {HTMLElement} root
 * @returns {(type: string) => void}
 */
function makeAnnouncer(root) {
  const status = root.querySelector('[data-live-status]');
  let count = 0;
  let isMissed = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return (type) => {
    if (type === 'missed') isMissed = true;
    else count += 1;
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!status) return;
      status.textContent = isMissed
        ? 'Many changes were missed. Reload the page to see them.'
        : count === 1 ? '1 change' : `${count} changes`;
      status.classList.toggle('hidden', !isMissed);
      count = 0;
    }, ANNOUNCE_AFTER_MS);
  };
}
