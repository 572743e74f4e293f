/** A file of the portal: its stylesheet, its scripts, its icon. */
import type { Reply } from '../../http/response/reply.ts';
import type { AnonymousPageRequest, Portal } from './route.ts';

/** GET /portal/assets/{digest}/{name}: 200, 404 */
export async function readAsset(
  { parameters }: AnonymousPageRequest, { assets }: Portal,
): Promise<Reply> {
  return assets.answer(parameters['digest'] ?? '', parameters['name'] ?? '');
}
