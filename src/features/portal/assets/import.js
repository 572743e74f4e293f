/** Uploads a file with a progress bar, and refreshes an import's progress. */

const REFRESH_MS = 1_000;

const form = document.getElementById('upload');
if (form instanceof HTMLFormElement) watchUpload(form);
if (document.getElementById('progress')) refreshLater();

/** @param {HTMLFormElement} upload */
function watchUpload(upload) {
  const file = /** @type {HTMLInputElement} */ (document.getElementById('field-file'));
  for (const type of ['dragenter', 'dragover']) {
    upload.addEventListener(type, (event) => {
      event.preventDefault();
      upload.classList.add('over');
    });
  }
  upload.addEventListener('dragleave', (event) => {
    const to = event.relatedTarget;
    if (!(to instanceof Node && upload.contains(to))) upload.classList.remove('over');
  });
  upload.addEventListener('drop', (event) => {
    event.preventDefault();
    upload.classList.remove('over');
    const files = event.dataTransfer?.files;
    if (!files || files.length === 0) return;
    if (files.length > 1) {
      showError('Drop one file at a time.');
      return;
    }
    file.files = files;
    upload.requestSubmit();
  });
  upload.addEventListener('submit', (event) => {
    const [chosen] = file.files ?? [];
    if (!chosen) return; // the browser reports it
    event.preventDefault();
    const { limit, most } = upload.dataset;
    if (chosen.size > Number(limit)) showError(`This file is too large. The maximum is ${most}.`);
    else send(upload);
  });
}

/**
 * Sends the form as the browser would, and shows the progress.
 * @param {HTMLFormElement} upload
 */
function send(upload) {
  const bar = /** @type {HTMLProgressElement} */ (document.getElementById('upload-bar'));
  const request = new XMLHttpRequest();
  const show = (/** @type {boolean} */ isSending) => {
    for (const button of upload.querySelectorAll('button')) button.disabled = isSending;
    const box = document.getElementById('upload-progress');
    if (box) box.hidden = !isSending;
  };
  request.open('POST', upload.action);
  request.responseType = 'document';
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.value = Math.floor(100 * loaded / total);
  });
  request.addEventListener('load', () => {
    const { responseXML: page, responseURL: url, status } = request;
    if (status === 200) {
      location.assign(url);
      return;
    }
    show(false);
    const error = page?.getElementById('field-file-fault') ?? page?.querySelector('main p');
    showError(error?.textContent ?? 'The file could not be uploaded. Try again.');
  });
  request.addEventListener('error', () => {
    show(false);
    showError('The connection was lost. Try again.');
  });
  showError('');
  show(true);
  request.send(new FormData(upload));
}

/** @param {string} text */
function showError(text) {
  const error = document.getElementById('upload-fault');
  if (!error) return;
  error.hidden = text === '';
  error.textContent = text;
}

function refreshLater() {
  setTimeout(refresh, REFRESH_MS);
}

/** Reloads the progress section, or the whole page when the phase changes. */
function refresh() {
  const request = new XMLHttpRequest();
  request.open('GET', location.href);
  request.responseType = 'document';
  request.addEventListener('load', () => {
    const [here, there] = [document, request.responseXML]
      .map((page) => page?.getElementById('progress'));
    if (!here || !there || here.dataset.phase !== there.dataset.phase) {
      location.reload();
      return;
    }
    for (const selector of ['label', 'progress', '.read', '.facts']) {
      const [old, fresh] = [here, there].map((part) => part.querySelector(selector));
      if (old && fresh) old.replaceWith(document.adoptNode(fresh));
    }
    refreshLater();
  });
  request.addEventListener('error', refreshLater);
  request.send();
}
