/** On every page: buttons that copy, which are of no use without a script; and double clicks. */
for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!(button instanceof HTMLButtonElement) || !navigator.clipboard) continue;
  const source = document.getElementById(button.dataset.copy ?? '');
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source?.textContent ?? '');
    button.textContent = 'Copied';
  });
}

/**
 * A form that is sent once is not sent by the second click of a double click: the server would not
 * do it twice, but what it shows once would be lost with the answer to the first.
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
