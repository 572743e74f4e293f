/** Fills in the browser's time zone, and the code of an invitation from the link's fragment. */
const timeZone = document.querySelector('input[name="time_zone"]');
if (timeZone instanceof HTMLInputElement) {
  timeZone.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? '';
}

const code = document.querySelector('input[name="code"]');
if (code instanceof HTMLInputElement && code.value === '') {
  code.value = location.hash.slice(1, 41);
}
