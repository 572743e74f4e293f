/** Tells the server in which time zone the browser is. */
const field = document.querySelector('input[name="time_zone"]');
if (field instanceof HTMLInputElement) {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? '';
}
