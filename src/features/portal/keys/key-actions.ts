/** Rotating and revoking an API key. The key that comes of a rotation is shown this once. */
import { generateApiKey, hashApiKey } from '../../../domain/access/api-key.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { postForm } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { readNonce } from '../forms/form-nonce.ts';
import { readOverlap } from '../forms/overlap.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';
import { renderMadeKey } from './key-making.ts';
import { getKey, pathOf, renderUse } from './keys.ts';

/** POST /portal/keys/{key_id}/rotate: 200, 400, 404, 409 */
export async function rotateKey(request: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const { sellerId, id, scopes } = await getKey(request, portal);
  const overlapMs = readOverlap(form);
  const idempotency = readNonce(form);
  const secret = generateApiKey();
  return renderMadeKey(request, portal, { secret, scopes }, () => portal.store.rotateKey(
    { sellerId, keyId: id }, hashApiKey(secret), overlapMs, request.address, idempotency,
  ));
}

/** GET /portal/keys/{key_id}/revoke: 200, 404 */
export async function showRevocation(request: PageRequest, portal: Portal): Promise<Reply> {
  const key = await getKey(request, portal);
  const { link } = request;
  return renderPage(request, portal, {
    title: `Revoke the key: ${key.name}`,
    content: html`<p>Every program that uses it is refused from then on. This cannot be undone.</p>
      <p>Its last use: ${renderUse(request, key)}.</p>
      <div class="actions">
        ${postForm(request, link(`${pathOf(key)}/revoke`), html`
          <button class="danger">Revoke this key</button>`)}
        <a class="button" href="${link(pathOf(key))}">Keep it</a>
      </div>`,
  });
}

/** POST /portal/keys/{key_id}/revoke: 303, 404 */
export async function revokeKey(request: PageRequest, portal: Portal): Promise<Reply> {
  const { sellerId, id } = await getKey(request, portal);
  await portal.store.revokeKey({ sellerId, keyId: id }, request.address);
  return redirect(request.link('/keys?done=revoked'));
}
