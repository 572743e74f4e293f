/** Rotating and revoking an API key. The key that comes of a rotation is shown this once. */
import { generateApiKey, hashApiKey } from '../../../domain/access/api-key.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { postForm } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { readOnce } from '../forms/form-nonce.ts';
import { readOverlap } from '../forms/overlap.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';
import { renderMadeKey } from './key-making.ts';
import { getKey, pathOf, renderUse } from './keys.ts';

/** POST /portal/keys/{key_id}/rotate: 200, 400, 404, 409 */
export async function rotateKey(visit: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const { sellerId, id, scopes } = await getKey(visit, portal);
  const overlapMs = readOverlap(form);
  const once = readOnce(form);
  const secret = generateApiKey();
  return renderMadeKey(visit, portal, { secret, scopes }, () => portal.store.rotateKey(
    { sellerId, keyId: id }, hashApiKey(secret), overlapMs, visit.address, once,
  ));
}

/** GET /portal/keys/{key_id}/revoke: 200, 404 */
export async function showRevocation(visit: PageRequest, portal: Portal): Promise<Reply> {
  const key = await getKey(visit, portal);
  const { link } = visit;
  return renderPage(visit, portal, {
    title: `Revoke the key: ${key.name}`,
    content: html`<p>Every program that uses it is refused from then on. This cannot be undone.</p>
      <p>Its last use: ${renderUse(visit, key)}.</p>
      <div class="actions">
        ${postForm(visit, link(`${pathOf(key)}/revoke`), html`
          <button class="danger">Revoke this key</button>`)}
        <a class="button" href="${link(pathOf(key))}">Keep it</a>
      </div>`,
  });
}

/** POST /portal/keys/{key_id}/revoke: 303, 404 */
export async function revokeKey(visit: PageRequest, portal: Portal): Promise<Reply> {
  const { sellerId, id } = await getKey(visit, portal);
  await portal.store.revokeKey({ sellerId, keyId: id }, visit.address);
  return redirect(visit.link('/keys?done=revoked'));
}
