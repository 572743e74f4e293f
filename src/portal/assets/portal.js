/** On every page: buttons that copy, which are of no use without a script. */
for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!(button instanceof HTMLButtonElement) || !navigator.clipboard) continue;
  const source = document.getElementById(button.dataset.copy ?? '');
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source?.textContent ?? '');
    button.textContent = 'Copied';
  });
}
