/** On every page: shows copy buttons, which need scripts, and handles double clicks. */
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
