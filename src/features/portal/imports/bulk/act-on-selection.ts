/** Starts the action that a seller chose for the selected products of the list. */
import { formatProductId } from '../../../../domain/id.ts';
import type { Reply } from '../../../../http/response/reply.ts';
import type { Form } from '../../forms/form.ts';
import { redirect } from '../../html/page.ts';
import { listFields, listPath, readList } from '../../products/product-search.ts';
import { readSelection } from '../../products/product-selection.ts';
import type { PageRequest, Portal } from '../../route.ts';
import { startBulk } from './bulk-page.ts';

/** POST /portal/products/selection: 303, 400, 422, 503 */
export async function actOnSelection(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { link } = request;
  const list = readList(request, form);
  const action = form.get('action');
  const isEdit = action === 'edit';
  const selection = await readSelection(request, portal, form, isEdit);
  if (isEdit) {
    const query = 'ids' in selection
      ? [...selection.ids.map((id) => ['id', formatProductId(request.account.sellerId, id)]),
        ...listFields(list)]
      : [...list].filter(([name]) => name !== 'cursor');
    return redirect(link('/products/grid', new URLSearchParams(query)));
  }
  if ('ids' in selection && selection.ids.length === 0) {
    return redirect(link(listPath(new URLSearchParams([...list, ['done', 'none']]))));
  }
  if (action === 'delete' || action === 'archive' || action === 'restore') {
    return startBulk(request, portal, { selection, change: { mode: action } });
  }
  const change = { mode: 'category', category: undefined } as const;
  return startBulk(request, portal, { selection, change });
}
